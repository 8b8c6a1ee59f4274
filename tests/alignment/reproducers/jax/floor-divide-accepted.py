"""floor_divide: JAX divides integers by zero, which torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0, jax 0.10.2; test_edges.py::test_what_torch_refuses[name='floor_divide']."""

import sys

try:
    import jax
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

try:
    given = jax.numpy.floor_divide(jax.numpy.array([5, -5]), jax.numpy.array([0, 0]))
except Exception as error:  # noqa: BLE001 - refused, as torch does
    sys.exit(print("same:", error))
print("DIFFERS: torch raises RuntimeError: ZeroDivisionError, JAX gives", given.tolist())
sys.exit(1)
