"""logical_not: v1 differs in value between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, jax 0.10.2; test_elementwise.py::test_predicates[name='logical_not'], trial 1 of base seed 0.
jax: NumPy gives 0, as torch does"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array(5e-324, "float64"))
    v1 = torch.logical_not(x0)
    return v1.tolist()

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array(5e-324, "float64"))
    v1 = jax.numpy.logical_not(x0)
    return v1.tolist()

try:
    expected = in_torch()
    actual = in_jax()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.array_equal(expected, actual):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, jax {actual}".split())[:1000])
sys.exit(1)
