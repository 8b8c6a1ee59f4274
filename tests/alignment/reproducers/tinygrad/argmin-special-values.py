"""argmin: v1 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_reduction.py::test_places_of_extremes_among_special_values[name='argmin'], trial 1 of base seed 0.
tinygrad: NumPy gives 4 at (2,), as torch does"""
import sys
import numpy as np

X0 = np.array([[2.695945, 0.010823011, -1e-45, 2.4523346], [-np.inf, 2.3361428, -3.0795188,
    -3.8493662], [np.inf, 2.1179297, 2.249605, -1.723878], [1e-45, -2.5451393, np.inf,
    -3.4028235e+38], [-2.581633, -2.9103408, np.nan, 2.5680254]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = torch.argmin(x0, dim=0)
    return v1.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[2.695945, 0.010823011, -1e-45, 2.4523346], [-np.inf, 2.3361428, -3.0795188, -3.8493662], [np.inf, 2.1179297, 2.249605, -1.723878], [1e-45, -2.5451393, np.inf, -3.4028235e+38], [-2.581633, -2.9103408, np.nan, 2.5680254]], "float32"))
    v1 = x0.argmin(0, False).cast("int64")
    return v1.tolist()

try:
    expected = in_torch()
    actual = in_tinygrad()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.array_equal(expected, actual):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, tinygrad {actual}".split())[:1000])
sys.exit(1)
