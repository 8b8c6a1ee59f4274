"""nn.GELU: v2 differs in value between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, jax 0.10.2; test_activation.py::test_module_of_special_values[name='GELU'], trial 1 of base seed 0.
torch: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X0 = np.array([[6.386722, 1.2992558, 6.3098903, 1.1754944e-38, 3.4028235e+38], [6.4280677,
    0.23233652, -7.650176, 5.029491, 0.5475793], [-4.9777994, -np.inf, 2.4115424, 7.223682,
    -5.6985044]], "float32")

def in_torch():
    import torch
    m0 = torch.nn.GELU()
    x0 = torch.tensor(X0)
    v2 = m0(x0)
    return v2.tolist()

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array([[6.386722, 1.2992558, 6.3098903, 1.1754944e-38, 3.4028235e+38], [6.4280677, 0.23233652, -7.650176, 5.029491, 0.5475793], [-4.9777994, -np.inf, 2.4115424, 7.223682, -5.6985044]], "float32"))
    t1 = 0.5 * x0
    v2 = t1 * (1 + jax.lax.erf(x0 / 1.4142135623730951))
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_jax()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, jax {actual}".split())[:1000])
sys.exit(1)
