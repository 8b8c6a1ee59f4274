"""nn.Hardswish: v2 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_activation.py::test_module_of_special_values[name='Hardswish'], trial 1 of base seed 0.
tinygrad: NumPy gives inf at (1, 0), as torch does"""
import sys
import numpy as np

X0 = np.array([[-2.373645, 4.83182, -3.6131032, -3.0463812, 3.4028235e+38], [np.inf, 0.09702158,
    -5.998461, -2.7735693, np.nan], [7.59502, -1e-45, np.inf, -7.761383, 3.8924994]], "float32")

def in_torch():
    import torch
    m0 = torch.nn.Hardswish()
    x0 = torch.tensor(X0)
    v2 = m0(x0)
    return v2.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[-2.373645, 4.83182, -3.6131032, -3.0463812, 3.4028235e+38], [np.inf, 0.09702158, -5.998461, -2.7735693, np.nan], [7.59502, -1e-45, np.inf, -7.761383, 3.8924994]], "float32"))
    v2 = x0.hardswish()
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
