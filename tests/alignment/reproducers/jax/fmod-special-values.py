"""fmod: torch gives NaN where a block of numbers contains a great one, which JAX does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0, jax 0.10.2; test_elementwise.py::test_arithmetic_of_special_values[name='fmod']."""

import sys

import numpy as np

try:
    import jax
    import torch
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

x, y = np.full(16, -3.4028235e38, "float32"), np.full(16, 0.8, "float32")
expected = torch.fmod(torch.tensor(x), torch.tensor(y)).numpy()
actual = np.array(jax.numpy.fmod(jax.numpy.array(x), jax.numpy.array(y)))
same = np.array_equal(expected, actual, equal_nan=True)
print("same" if same else f"DIFFERS: torch gives {expected[0]}, JAX {actual[0]}")
sys.exit(int(not same))
