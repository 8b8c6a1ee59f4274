"""nn.functional.hardsigmoid: x0.grad differs in gradient between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, jax 0.10.2; test_activation.py::test_function[name='hardsigmoid'], trial 0 of base seed 2.
torch: finite difference of its own forward gives 0.166666667, as jax does"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array(0.0, "float64"), requires_grad=True)
    v1 = torch.nn.functional.hardsigmoid(x0)
    v1.backward(torch.tensor(np.array(1.0, "float64")))
    return x0.grad.tolist()

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array(0.0, "float64"))
    c2 = jax.numpy.array(np.array(1.0, "float64"))

    def forward(x0):
        t1 = x0 + 3
        t2 = t1 <= 0
        v1 = jax.numpy.where(t2, 0, jax.numpy.where(t1 >= 6, 6, t1)) / 6
        return v1

    _, pull = jax.vjp(forward, x0)
    g0, = pull(c2)
    return g0.tolist()

try:
    expected = in_torch()
    actual = in_jax()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, jax {actual}".split())[:1000])
sys.exit(1)
