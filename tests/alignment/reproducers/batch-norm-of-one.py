"""nn.BatchNorm1d: oneflow accepts what torch refuses.

torch 2.0.1+cu117, oneflow 0.9.0; test_normalisation.py::TestNormalisation.test_of_a_batch_of_one_is_refused, trial 0 of base seed 0.
oneflow: it accepts what torch refuses
Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
"""

import sys

import numpy as np

try:
    import torch
    import oneflow
except (ImportError, OSError) as error:
    print("cannot run:", error)
    sys.exit(2)

A0 = np.array(0.0, "float32")
A1 = np.array(0.0, "float32")
A2 = np.array(0.0, "float32")
A3 = np.array(0.0, "float32")
A4 = np.array(0, "int64")
X0 = np.array([[0.0]], "float32")


def program(torch):
    m0 = torch.nn.BatchNorm1d(1)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(A0))
        m0.bias.copy_(torch.tensor(A1))
        m0.running_mean.copy_(torch.tensor(A2))
        m0.running_var.copy_(torch.tensor(A3))
        m0.num_batches_tracked.copy_(torch.tensor(A4))
    x0 = torch.tensor(X0)
    v3 = m0(x0)
    return {"m0": m0, "x0": x0, "v3": v3}


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
    expected, actual = run(torch), run(oneflow)
    print("torch " + expected, "oneflow " + actual, sep="\n")
    sys.exit(1 if expected != "returns" and actual == "returns" else 0)
