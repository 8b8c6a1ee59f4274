"""nn.Mish: v2 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_activation.py::test_module_of_special_values[name='Mish'], trial 1 of base seed 0.
tinygrad: NumPy gives inf at (1, 1), as torch does"""
import sys
import numpy as np

X0 = np.array([[-4.3781347, 6.787395, 3.2261195, 1e-45, 1.3681083], [7.0918975, np.inf, -0.0,
    -6.3085623, 3.1283097], [5.7588124, -3.671344, -0.4776299, -4.0884876, -3.3373435]], "float32")

def in_torch():
    import torch
    m0 = torch.nn.Mish()
    x0 = torch.tensor(X0)
    v2 = m0(x0)
    return v2.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[-4.3781347, 6.787395, 3.2261195, 1e-45, 1.3681083], [7.0918975, np.inf, -0.0, -6.3085623, 3.1283097], [5.7588124, -3.671344, -0.4776299, -4.0884876, -3.3373435]], "float32"))
    v2 = x0.mish()
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
