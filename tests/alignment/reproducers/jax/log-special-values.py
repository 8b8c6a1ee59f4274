"""log: v1 differs in value between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, jax 0.10.2; test_elementwise.py::test_unary_of_special_values[name='log'], trial 0 of base seed 0.
jax: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X0 = np.array([[-0.69075835, 1.9214622, -1.6156436], [-2.3611379, 1.446385, 3.4028235e+38],
    [1.1754944e-38, 1.5165044, -1.376895], [3.4028235e+38, 0.94798267, 2.4345262], [-1.0650773,
    -2.8498127, -np.inf], [1e-45, -2.9464126, 2.0004907]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = torch.log(x0)
    return v1.tolist()

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array([[-0.69075835, 1.9214622, -1.6156436], [-2.3611379, 1.446385, 3.4028235e+38], [1.1754944e-38, 1.5165044, -1.376895], [3.4028235e+38, 0.94798267, 2.4345262], [-1.0650773, -2.8498127, -np.inf], [1e-45, -2.9464126, 2.0004907]], "float32"))
    v1 = jax.numpy.log(x0)
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
