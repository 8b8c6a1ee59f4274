"""sort: JAX takes a subnormal number for zero and leaves it where it is, which torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0, jax 0.10.2; test_reduction.py::TestOrder.test_sorted_values_with_nan."""

import sys

import numpy as np

try:
    import jax
    import torch
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

given = np.array([1e-40, -0.0], "float32")
expected = torch.sort(torch.tensor(given))[1].tolist()
actual = jax.numpy.argsort(jax.numpy.array(given)).tolist()
print("same" if actual == expected else f"DIFFERS: torch gives {expected}, JAX {actual}")
sys.exit(int(actual != expected))
