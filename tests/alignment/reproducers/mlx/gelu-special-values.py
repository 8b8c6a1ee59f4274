"""nn.GELU: v2 differs in value between torch and mlx. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, mlx 0.32.4; test_activation.py::test_module_of_special_values[name='GELU'], trial 1 of base seed 0.
torch is the specification: mlx differs in value; no independent oracle can decide"""
import sys
import numpy as np

def in_torch():
    import torch
    m0 = torch.nn.GELU()
    x0 = torch.tensor(np.array([3.4028235e+38, 0.0], "float32"))
    v2 = m0(x0)
    return v2.tolist()

def in_mx():
    import mlx.core as mx
    x0 = mx.array(np.array([3.4028235e+38, 0.0], "float32"))
    t1 = 0.5 * x0
    v2 = t1 * (1 + mx.erf(x0 / 1.4142135623730951))
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_mx()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, mlx {actual}".split())[:1000])
sys.exit(1)
