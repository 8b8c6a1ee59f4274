"""linalg.inv: JAX inverts a singular matrix, which torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0, jax 0.10.2; test_edges.py::test_what_torch_refuses[name='inverse of a singular matrix']."""

import sys

try:
    import jax
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

try:
    given = jax.numpy.linalg.inv(jax.numpy.zeros((2, 2)))
except Exception as error:  # noqa: BLE001 - refused, as torch does
    sys.exit(print("same:", error))
print("DIFFERS: torch raises LinAlgError: the input matrix is singular, JAX gives", given.tolist())
sys.exit(1)
