"""ge: v2 differs in value between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, jax 0.10.2; test_elementwise.py::test_relations_of_special_values[name='ge'], trial 1 of base seed 5.
jax: its error against the float64 result is larger than rounding explains"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array(0.0, "float32"))
    x1 = torch.tensor(np.array(1e-45, "float32"))
    v2 = torch.ge(x0, x1)
    return v2.tolist()

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array(0.0, "float32"))
    x1 = jax.numpy.array(np.array(1e-45, "float32"))
    v2 = jax.numpy.greater_equal(x0, x1)
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_jax()
    same = np.shape(expected) == np.shape(actual) and np.array_equal(expected, actual)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if same:
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, jax {actual}".split())[:1000])
sys.exit(1)
