"""backward: oneflow crashes, torch does not.

torch 2.0.1+cu117, oneflow 0.9.0; test_frozen.py::test_the_second_operand_is_frozen[name='conv_transpose1d'], trial 0 of base seed 2068348793.
oneflow: crash; torch returns a result
Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
"""

import os
import signal
import sys

import numpy as np

try:
    import torch
    import oneflow
except (ImportError, OSError) as error:
    print("cannot tell:", error)
    sys.exit(2)

X0 = np.array([[[0.0]]], "float32")
X1 = np.array([[[0.0]]], "float32")
C3 = np.array([[[1.0]]], "float32")


def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    x1 = torch.tensor(X1)
    v2 = torch.nn.functional.conv_transpose1d(x0, x1)
    v2.backward(torch.tensor(C3))
    return {"x0": x0, "x0.grad": x0.grad, "x1": x1, "v2": v2}


def read(value):
    """Wait until all of `value` is computed."""
    if isinstance(value, (dict, tuple, list)):
        for item in value.values() if isinstance(value, dict) else value:
            read(item)
    elif hasattr(value, "tolist"):
        value.tolist()


def run(framework):
    """Return how the program ends."""
    try:
        read(program(framework))
        return "returns"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"


if __name__ == "__main__":
    deaths = []
    for _ in range(1):
        child = os.fork()  # before torch has threads, which a fork would lack
        if not child:
            signal.alarm(60)
            for _ in range(1):
                run(oneflow)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == -signal.SIGALRM:
            sys.exit(print("cannot tell: no answer in 60 s") or 2)
        if status:
            deaths.append(signal.Signals(-status).name if status < 0 else str(status))
    expected = run(torch)
    told = f"{', '.join(deaths)}; torch {expected}"
    print(f"DIFFERS: oneflow dies: {told}" if deaths else "same")
    sys.exit(1 if deaths else 0)
