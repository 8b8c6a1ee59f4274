"""ceil: v1 differs in value between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, jax 0.10.2; test_elementwise.py::test_unary_of_special_values[name='ceil'], trial 0 of base seed 0.
jax: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X0 = np.array([[-1.0383582, -0.33317006, 0.0, -1.9100337, 1e-45, 0.30546987], [-2.817266, 1.6394311,
    0.11912525, 2.7869804, -3.4028235e+38, -0.4982394], [-2.88805, -np.inf, -2.7921357,
    -3.4028235e+38, -0.8514849, -3.4028235e+38]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = torch.ceil(x0)
    return v1.tolist()

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array([[-1.0383582, -0.33317006, 0.0, -1.9100337, 1e-45, 0.30546987], [-2.817266, 1.6394311, 0.11912525, 2.7869804, -3.4028235e+38, -0.4982394], [-2.88805, -np.inf, -2.7921357, -3.4028235e+38, -0.8514849, -3.4028235e+38]], "float32"))
    v1 = jax.numpy.ceil(x0)
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
