"""atan: v1 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_elementwise.py::test_unary_of_special_values[name='atan'], trial 0 of base seed 0.
tinygrad: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X0 = np.array([[-2.67826, -2.870347, 1e-45, 0.5539204, -0.0, 0.34107888], [-1.9771442, -0.008569598,
    -0.93708336, 2.063622, -0.6549262, 0.3185451], [np.nan, -1.2549253, -0.0, -1.0057054,
    -0.113399625, -1.0438199], [1.6498563, 1.41744, 1.6191722, -3.4028235e+38, 2.9722903,
    -0.25866473], [-1.5009012, 0.36620295, 1.1506636, 1.1754944e-38, -2.2527027, -1.9100429]],
    "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = torch.atan(x0)
    return v1.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[-2.67826, -2.870347, 1e-45, 0.5539204, -0.0, 0.34107888], [-1.9771442, -0.008569598, -0.93708336, 2.063622, -0.6549262, 0.3185451], [np.nan, -1.2549253, -0.0, -1.0057054, -0.113399625, -1.0438199], [1.6498563, 1.41744, 1.6191722, -3.4028235e+38, 2.9722903, -0.25866473], [-1.5009012, 0.36620295, 1.1506636, 1.1754944e-38, -2.2527027, -1.9100429]], "float32"))
    v1 = x0.atan()
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
