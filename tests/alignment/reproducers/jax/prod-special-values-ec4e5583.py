"""prod: v1 differs in value between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, jax 0.10.2; test_reduction.py::test_of_special_values[name='prod'], trial 1 of base seed 5.
jax: its error against the float64 result is larger than rounding explains"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([7.296551e-39, 1.763846e+38], "float32"))
    v1 = torch.prod(x0)
    return v1.tolist()

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array([7.296551e-39, 1.763846e+38], "float32"))
    v1 = jax.numpy.prod(x0, axis=None, keepdims=False)
    return v1.tolist()

try:
    expected = in_torch()
    actual = in_jax()
    same = np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if same:
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, jax {actual}".split())[:1000])
sys.exit(1)
