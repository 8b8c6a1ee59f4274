"""nn.LayerNorm: v4 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_modules.py::test_layer_normalisation_beyond_the_greatest_numbers, trial 0 of base seed 0.
both: torch and tinygrad are further from the float64 result than rounding"""
import sys
import numpy as np

X0 = np.array([[-0.4702053, -0.47384357, -0.6560935], [0.13746893, 0.21738791, -0.8106985]],
    "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    m1 = torch.nn.LayerNorm(3)
    with torch.no_grad():
        m1.weight.copy_(torch.tensor(np.array([1.0, 1.0, 1.0], "float32")))
        m1.bias.copy_(torch.tensor(np.array([0.0, 0.0, 0.0], "float32")))
    v3 = x0 * 3e+38
    v4 = m1(v3)
    return v4.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[-0.4702053, -0.47384357, -0.6560935], [0.13746893, 0.21738791, -0.8106985]], "float32"))
    t5 = tinygrad.Tensor(np.array([1.0, 1.0, 1.0], "float32"))
    t6 = tinygrad.Tensor(np.array([0.0, 0.0, 0.0], "float32"))
    v3 = x0.mul(3e+38)
    v4 = v3.layernorm((-1,), 1e-05) * t5 + t6
    return v4.tolist()

try:
    expected = in_torch()
    actual = in_tinygrad()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, tinygrad {actual}".split())[:1000])
sys.exit(1)
