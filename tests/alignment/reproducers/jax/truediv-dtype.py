"""truediv: v4 differs in dtype between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, jax 0.10.2; test_elementwise.py::TestArithmetic.test_arithmetic_of_mixed_dtypes, trial 1 of base seed 0.
torch is the specification: jax differs in dtype; nobody else has an opinion"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([[2, 7, 3], [8, 5, 6]], "int32"))
    x1 = torch.tensor(np.array([[1, 7, 7], [1, 3, 1]], "int64"))
    x0 * x1
    x0 - x1
    v4 = x0 / x1
    x0 + x1
    return str(v4.dtype).split(".")[-1]

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array([[2, 7, 3], [8, 5, 6]], "int32"))
    x1 = jax.numpy.array(np.array([[1, 7, 7], [1, 3, 1]], "int64"))
    v4 = jax.numpy.divide(x0, x1)
    return str(v4.dtype).split(".")[-1]

try:
    expected = in_torch()
    actual = in_jax()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if expected == actual:
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, jax {actual}".split())[:1000])
sys.exit(1)
