"""gather: JAX takes an index beyond the last element, which torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0, jax 0.10.2; test_edges.py::test_what_torch_refuses[name='gather of one more']."""

import sys

try:
    import jax
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

try:
    given = jax.numpy.take_along_axis(jax.numpy.ones((1, 4)), jax.numpy.array([[0, 4]]), axis=1)
except Exception as error:  # noqa: BLE001 - refused, as torch does
    sys.exit(print("same:", error))
print("DIFFERS: torch raises RuntimeError: index 4 is out of bounds for dimension 1 with size 4, JAX gives", given.tolist())
sys.exit(1)
