"""nn.functional.embedding: JAX takes an index beyond the last row, which torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1, jax 0.10.2; test_embedding.py::TestEmbedding.test_an_index_beyond_the_last_row_is_refused."""

import sys

import numpy as np

try:
    import jax
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

try:
    given = jax.numpy.take(jax.numpy.ones((7, 2)), np.array([7, 6]), axis=0)
except Exception as error:  # noqa: BLE001 - refused, as torch does
    sys.exit(print("same:", error))
print("DIFFERS: torch raises IndexError: index out of range in self, JAX gives", given.tolist())
sys.exit(1)
