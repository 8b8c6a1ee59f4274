"""sqrt: v1 differs in value between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, jax 0.10.2; test_elementwise.py::test_unary_of_special_values[name='sqrt'], trial 1 of base seed 0.
jax: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X0 = np.array([[np.nan, 1e-45, 1.5429304, -np.inf], [1.5793836, -0.022268176, -0.7724055,
    -1.4293938], [3.4028235e+38, -2.4568958, -2.5742068, 0.16980052], [2.0870807, -1e-45, np.nan,
    -1e-45], [np.nan, -0.20103455, 0.3588537, -0.0]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = torch.sqrt(x0)
    return v1.tolist()

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array([[np.nan, 1e-45, 1.5429304, -np.inf], [1.5793836, -0.022268176, -0.7724055, -1.4293938], [3.4028235e+38, -2.4568958, -2.5742068, 0.16980052], [2.0870807, -1e-45, np.nan, -1e-45], [np.nan, -0.20103455, 0.3588537, -0.0]], "float32"))
    v1 = jax.numpy.sqrt(x0)
    return v1.tolist()

try:
    expected = in_torch()
    actual = in_jax()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, jax {actual}".split())[:1000])
sys.exit(1)
