"""nn.Linear: oneflow raises where torch does not.

torch 2.0.1+cu117, oneflow 0.9.0; test_matmul.py::test_linear_of_a_vector[bias=True], trial 1 of base seed 0.
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

A0 = np.array(0.0, "float32")
A1 = np.array(0.0, "float32")
X0 = np.array([0.0], "float32")


def program(torch):
    m0 = torch.nn.Linear(1, 0)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(A0))
        m0.bias.copy_(torch.tensor(A1))
    x0 = torch.tensor(X0)
    v3 = m0(x0)
    return {"m0": m0, "x0": x0, "v3": v3}


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
