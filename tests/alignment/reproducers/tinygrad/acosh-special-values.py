"""acosh: v1 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_elementwise.py::test_unary_of_special_values[name='acosh'], trial 0 of base seed 0.
tinygrad: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X0 = np.array([[3.4028235e+38, -2.0389233, -0.76578474, 0.71144116, 0.9285238], [-0.36634552,
    1.0879495, -0.17688179, 0.8736056, -0.0], [-1.7594029, np.nan, 2.5301201, -1.1758958,
    -2.9159808]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = torch.acosh(x0)
    return v1.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[3.4028235e+38, -2.0389233, -0.76578474, 0.71144116, 0.9285238], [-0.36634552, 1.0879495, -0.17688179, 0.8736056, -0.0], [-1.7594029, np.nan, 2.5301201, -1.1758958, -2.9159808]], "float32"))
    v1 = x0.acosh()
    return v1.tolist()

try:
    expected = in_torch()
    actual = in_tinygrad()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, tinygrad {actual}".split())[:1000])
sys.exit(1)
