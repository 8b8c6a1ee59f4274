"""sqrt: v1 differs in dtype between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, jax 0.10.2; test_elementwise.py::test_unary_of_integers[name='sqrt'], trial 1 of base seed 0.
torch is the specification: jax differs in dtype; nobody else has an opinion"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([[5, 8], [5, 0], [3, 8], [7, 6]], "int64"))
    v1 = torch.sqrt(x0)
    return str(v1.dtype).split(".")[-1]

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array([[5, 8], [5, 0], [3, 8], [7, 6]], "int64"))
    v1 = jax.numpy.sqrt(x0)
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
