"""nn.Hardsigmoid: v2 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_activation.py::test_module_of_special_values[name='Hardsigmoid'], trial 1 of base seed 0.
tinygrad: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X0 = np.array([[-np.inf, -6.887635, 2.6640992, 3.4028235e+38, -5.7209435], [3.9034505, 1e-45,
    1.6471753, 4.022323, -6.434826], [-5.119879, -0.636513, -2.3188174, 1.764605, 3.0554967]],
    "float32")

def in_torch():
    import torch
    m0 = torch.nn.Hardsigmoid()
    x0 = torch.tensor(X0)
    v2 = m0(x0)
    return v2.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[-np.inf, -6.887635, 2.6640992, 3.4028235e+38, -5.7209435], [3.9034505, 1e-45, 1.6471753, 4.022323, -6.434826], [-5.119879, -0.636513, -2.3188174, 1.764605, 3.0554967]], "float32"))
    v2 = x0.hardsigmoid()
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
