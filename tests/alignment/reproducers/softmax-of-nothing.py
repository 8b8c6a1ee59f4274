"""backward: oneflow crashes, torch does not.

torch 2.0.1+cu117, oneflow 0.9.0; test_edges.py::test_without_elements[name='softmax'], trial 0 of base seed 0.
oneflow: crash, where torch returns
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
    print("cannot run:", error)
    sys.exit(2)

X0 = np.zeros((0,), "float32")
C2 = np.zeros((0,), "float32")


def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.softmax(x0, dim=0)
    v1.backward(torch.tensor(C2))
    return {"x0": x0, "x0.grad": x0.grad, "v1": v1}


def read(value):
    """Wait for all of `value`, which may still be being computed."""
    if isinstance(value, (dict, tuple, list)):
        for item in value.values() if isinstance(value, dict) else value:
            read(item)
    elif hasattr(value, "tolist"):
        value.tolist()


def run(framework):
    """How the program ends."""
    try:
        read(program(framework))
        return "returns"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--side", "oneflow"]:
        print("oneflow " + run(oneflow), flush=True)
        os._exit(0)
    print("torch " + run(torch), flush=True)
    try:
        command = [sys.executable, __file__, "--side", "oneflow"]
        child = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        print("oneflow hangs: no answer in 60 s")
        sys.exit(1)
    status = signal.Signals(-child.returncode).name if child.returncode < 0 else child.returncode
    print(child.stdout if (child.returncode == 0 and child.stdout) else f"oneflow dies: {status}")
    sys.exit(0 if (child.returncode == 0 and child.stdout) else 1)
