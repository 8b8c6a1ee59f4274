"""nn.ReLU6: v2 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_activation.py::test_module_of_special_values[name='ReLU6'], trial 0 of base seed 0.
tinygrad: NumPy gives nan at (1, 2), as torch does"""
import sys
import numpy as np

X0 = np.array([[-1.6724904, 7.256026, 1e-45, -4.0811996, -0.07747483], [-5.737212, -6.791875,
    np.nan, 1e-45, 6.996487], [-4.4401693, 3.0214849, -3.992617, 7.501224, 7.7827535]], "float32")

def in_torch():
    import torch
    m0 = torch.nn.ReLU6()
    x0 = torch.tensor(X0)
    v2 = m0(x0)
    return v2.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[-1.6724904, 7.256026, 1e-45, -4.0811996, -0.07747483], [-5.737212, -6.791875, np.nan, 1e-45, 6.996487], [-4.4401693, 3.0214849, -3.992617, 7.501224, 7.7827535]], "float32"))
    v2 = x0.relu6()
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_tinygrad()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, tinygrad {actual}".split())[:1000])
sys.exit(1)
