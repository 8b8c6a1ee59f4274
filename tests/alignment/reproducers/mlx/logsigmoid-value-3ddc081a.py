"""nn.functional.logsigmoid: v1 differs in value between torch and mlx. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, mlx 0.32.4; test_activation.py::test_function[name='logsigmoid'], trial 2 of base seed 5.
mlx: NumPy gives -0.313261688, as torch does"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array(1.0, "float64"))
    v1 = torch.nn.functional.logsigmoid(x0)
    return v1.tolist()

def in_mx():
    import mlx.core as mx
    x0 = mx.array(np.array(1.0, "float64"), mx.float64)
    v1 = -mx.logaddexp(-x0, 0)
    return v1.tolist()

try:
    expected = in_torch()
    actual = in_mx()
    same = np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if same:
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, mlx {actual}".split())[:1000])
sys.exit(1)
