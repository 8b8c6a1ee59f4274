"""backward: oneflow accepts what torch refuses.

torch 2.0.1+cu117, oneflow 0.9.0; test_shape.py::TestResampling.test_affine_grid, trial 9 of base seed 202213752.
oneflow: it accepts what torch refuses
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

X0 = np.zeros((2, 2, 3), "float32")
X1 = np.zeros((2, 3, 2, 2), "float32")


def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.nn.functional.affine_grid(x0, (2, 1, 3, 2))
    x1 = torch.tensor(X1)  # cotangent
    v3 = x1.transpose(2, 0)  # layout
    v1.backward(v3)
    return {"x0": x0, "x0.grad": x0.grad, "v1": v1, "x1": x1, "v3": v3}


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
    accepted = expected != "returns" and actual == "returns"
    print(*("DIFFERS: " + told).split() if accepted else ["same"])
    sys.exit(1 if accepted else 0)
