"""asinh: v1 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_elementwise.py::test_unary_of_special_values[name='asinh'], trial 1 of base seed 0.
tinygrad: NumPy gives -89.4159862 at (0, 1), as torch does"""
import sys
import numpy as np

X0 = np.array([[1.8604939, -3.4028235e+38, -0.0, -3.4028235e+38], [-1.667263, 0.5009192, 0.9584973,
    3.4028235e+38], [2.299751, 1.4246881, 1.2997558, -1.219967]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = torch.asinh(x0)
    return v1.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[1.8604939, -3.4028235e+38, -0.0, -3.4028235e+38], [-1.667263, 0.5009192, 0.9584973, 3.4028235e+38], [2.299751, 1.4246881, 1.2997558, -1.219967]], "float32"))
    v1 = x0.asinh()
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
