"""div: v2 differs in dtype between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, jax 0.10.2; test_elementwise.py::TestArithmetic.test_division_of_integers, trial 0 of base seed 0.
torch is the specification: jax differs in dtype; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[-6, 2, 6, 3], [-6, -7, -3, 5], [-8, 0, -4, 6], [7, -9, -7, -6]], "int64")
X1 = np.array([[2, 4, 1, 4], [2, 1, 4, 1], [2, 1, 3, 3], [1, 4, 4, 1]], "int64")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    v2 = torch.div(x0, x1)
    x0 / 4
    return str(v2.dtype).split(".")[-1]

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array([[-6, 2, 6, 3], [-6, -7, -3, 5], [-8, 0, -4, 6], [7, -9, -7, -6]], "int64"))
    x1 = jax.numpy.array(np.array([[2, 4, 1, 4], [2, 1, 4, 1], [2, 1, 3, 3], [1, 4, 4, 1]], "int64"))
    v2 = jax.numpy.divide(x0, x1)
    return str(v2.dtype).split(".")[-1]

try:
    expected = in_torch()
    actual = in_jax()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if expected == actual:
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, jax {actual}".split())[:1000])
sys.exit(1)
