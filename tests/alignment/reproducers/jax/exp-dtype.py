"""exp: v1 differs in dtype between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, jax 0.10.2; test_elementwise.py::test_unary_of_integers[name='exp'], trial 0 of base seed 0.
torch is the specification: jax differs in dtype; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[0, 2, 7, 2, 2], [4, 5, 4, 6, 1], [2, 3, 1, 0, 7], [8, 6, 7, 3, 1]], "int64")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = torch.exp(x0)
    return str(v1.dtype).split(".")[-1]

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array([[0, 2, 7, 2, 2], [4, 5, 4, 6, 1], [2, 3, 1, 0, 7], [8, 6, 7, 3, 1]], "int64"))
    v1 = jax.numpy.exp(x0)
    return str(v1.dtype).split(".")[-1]

try:
    expected = in_torch()
    actual = in_jax()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if expected == actual:
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, jax {actual}".split())[:1000])
sys.exit(1)
