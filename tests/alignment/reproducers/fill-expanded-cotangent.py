"""backward: oneflow crashes, torch does not.

torch 2.0.1+cu117, oneflow 0.9.0; test_elementwise.py::TestInPlace.test_filling_cuts_the_gradient, trial 4 of base seed 0.
Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
"""

import os
import signal
import subprocess
import sys

import numpy as np

try:
    import torch
    import oneflow
except (ImportError, OSError) as error:
    print("cannot tell:", error)
    sys.exit(2)


def program(torch):
    x0 = torch.from_numpy(np.zeros((2, 2), "float32")).requires_grad_()
    v1 = x0.clone()
    v2 = v1.fill_(0)
    x1 = torch.from_numpy(np.array(1.0, "float32"))  # cotangent
    v4 = x1.expand((2, 2))  # layout
    v2.backward(v4)
    return [value.tolist() for value in (x0, x0.grad, v1, v2, x1, v4)]


if __name__ == "__main__":
    if sys.argv[1:] == ["--side", "oneflow"]:
        print("oneflow", program(oneflow), flush=True)
        os._exit(0)
    expected = program(torch)
    command = [sys.executable, __file__, "--side", "oneflow"]
    child = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60)
    status = signal.Signals(-child.returncode).name if child.returncode < 0 else child.returncode
    print("same" if child.returncode == 0 else f"DIFFERS: oneflow dies: {status}; torch gives {expected}")
    sys.exit(0 if child.returncode == 0 else 1)
