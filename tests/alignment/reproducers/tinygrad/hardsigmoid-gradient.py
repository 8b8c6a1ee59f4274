"""nn.functional.hardsigmoid: x0.grad differs in gradient between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, tinygrad 0.14.0; test_activation.py::test_function[name='hardsigmoid'], trial 0 of base seed 2.
torch: finite difference of its own forward gives 0.166666667, as tinygrad does"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array(0.0, "float64"), requires_grad=True)
    v1 = torch.nn.functional.hardsigmoid(x0)
    v1.backward(torch.tensor(np.array(1.0, "float64")))
    return x0.grad.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([0.0], "float64")).reshape(())
    c2 = tinygrad.Tensor(np.array([1.0], "float64")).reshape(())

    def forward(x0):
        v1 = x0.hardsigmoid()
        return v1

    inputs = [one.clone() for one in (x0,)]  # constants are lazy, and computed of the same
    g0, = forward(*inputs).gradient(*inputs, gradient=c2)
    return g0.tolist()

try:
    expected = in_torch()
    actual = in_tinygrad()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, tinygrad {actual}".split())[:1000])
sys.exit(1)
