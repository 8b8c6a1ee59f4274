"""index_add: oneflow raises where torch does not.

torch 2.0.1+cu117, oneflow 0.9.0; test_indexing.py::TestWriting.test_index_add, trial 0 of base seed 0.
oneflow: it refuses or lacks what torch accepts
Exits 1 while the divergence is there, 0 when it is gone, 2 when it cannot tell.
"""

import sys

import numpy as np

try:
    import torch
    import os
    os.environ.setdefault("GLOG_minloglevel", "3")  # OneFlow reads it once, now
    import oneflow
except (ImportError, OSError) as error:
    print("cannot run:", error)
    sys.exit(2)

X0 = np.array([[-1.8636374, 0.80377114, -0.106087506, 0.67014587, -1.3836796], [-0.16536242,
    -0.9358352, -0.31315142, 0.24669588, 1.0118154], [0.079482436, 0.7130741, -0.1239329, 1.0986954,
    -1.1908383], [0.7418076, -1.6537323, 0.47034538, 1.7707089, -0.37458354]], "float32")
X1 = np.array([1, 2, 3], "int64")
X2 = np.array([[1.7075843, -1.1279178, 0.35032523, 1.9215876, -1.9184513], [-1.3338048, 0.17616737,
    -1.8837676, -1.0496006, 0.45539773], [1.0108224, 0.16421306, 1.6218857, 0.84540784,
    -0.5889271]], "float32")


def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = x0.shape
    x1 = torch.tensor(X1)
    x2 = torch.tensor(X2, requires_grad=True)
    v4 = torch.index_add(x0, 0, x1, x2)
    return {
        "x0": x0, "x0.grad": x0.grad, "v1": v1, "x1": x1, "x2": x2, "x2.grad": x2.grad, "v4": v4,
    }


def run(framework):
    """How the program ends; reading the values waits for what is still being computed."""
    try:
        for value in program(framework).values():
            if hasattr(value, "tolist"):
                value.tolist()
        return "returns"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"


if __name__ == "__main__":
    expected, actual = run(torch), run(oneflow)
    print("torch " + expected, "oneflow " + actual, sep="\n")
    if expected != "returns":
        sys.exit(2)
    sys.exit(1 if actual != "returns" else 0)
