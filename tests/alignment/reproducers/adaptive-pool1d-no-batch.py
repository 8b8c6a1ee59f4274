"""nn.AdaptiveAvgPool1d: oneflow raises where torch does not.

torch 2.0.1+cu117, oneflow 0.9.0; test_pooling.py::test_without_a_batch[kind='AdaptiveAvgPool', rank=1], trial 0 of base seed 1.
Exits 1 while the divergence is there, 0 when it is gone, 2 when it cannot tell.
"""

import sys

import numpy as np

try:
    import torch
    import oneflow
except (ImportError, OSError) as error:
    print("cannot run:", error)
    sys.exit(2)

X0 = np.array([[-0.6224309, -0.96820986, 0.43688315, -0.3974754, -0.034969598, -0.5400543],
    [0.6301965, 0.75446016, 0.62759393, -0.13101009, -0.9998617, 0.9856561]], "float32")


def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    m1 = torch.nn.AdaptiveAvgPool1d(1)
    v2 = m1(x0)
    return {"x0": x0, "x0.grad": x0.grad, "m1": m1, "v2": v2}


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
