"""nn.ConvTranspose2d: oneflow accepts what torch refuses.

torch 2.0.1+cu117, oneflow 0.9.0; test_convolution.py::test_transposed_convolution[rank=2], trial 5 of base seed 0.
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
X0 = np.array([[[[0.0]]]], "float32")


def program(torch):
    m0 = torch.nn.ConvTranspose2d(in_channels=1, out_channels=1, kernel_size=1, output_padding=1)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(A0))
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
