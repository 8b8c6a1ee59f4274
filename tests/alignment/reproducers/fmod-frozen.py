"""backward: oneflow raises where torch does not.

torch 2.0.1+cu117, oneflow 0.9.0; test_frozen.py::test_the_second_operand_is_frozen[name='fmod'], trial 0 of base seed 2068348793.
oneflow: it refuses or lacks what torch accepts
Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
"""

import sys

import numpy as np

try:
    import torch
    import oneflow
except (ImportError, OSError) as error:
    print("cannot tell:", error)
    sys.exit(2)

X0 = np.array([0.0], "float32")
X1 = np.array([0.0], "float32")
C3 = np.array([0.0], "float32")


def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    x1 = torch.tensor(X1)
    v2 = torch.fmod(x0, x1)
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
    expected, actual = run(torch), run(oneflow)
    told = f"torch {expected}, oneflow {actual}"
    if expected != "returns":
        sys.exit(print("cannot tell:", told) or 2)
    print(*("DIFFERS: " + told).split() if actual != "returns" else ["same"])
    sys.exit(1 if actual != "returns" else 0)
