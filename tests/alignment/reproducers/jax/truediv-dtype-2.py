"""truediv: v1 differs in dtype between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, jax 0.10.2; test_elementwise.py::TestArithmetic.test_division_of_integers, trial 0 of base seed 0.
torch is the specification: jax differs in dtype; no independent oracle can decide"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array(0, "int64"))
    v1 = x0 / 0
    return str(v1.dtype).split(".")[-1]

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array(0, "int64"))
    v1 = jax.numpy.divide(x0, 0)
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
