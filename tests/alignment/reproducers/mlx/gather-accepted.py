"""gather: MLX takes an index beyond the last element, which torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0, mlx 0.32.4; test_edges.py::test_what_torch_refuses[name='gather']."""

import sys

try:
    import mlx.core as mx
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)
mx.set_default_device(mx.cpu)

try:
    given = mx.take_along_axis(mx.ones((1, 4)), mx.array([[0, 9]]), axis=1)
except Exception as error:  # noqa: BLE001 - refused, as torch does
    sys.exit(print("same:", error))
print("DIFFERS: torch raises RuntimeError: index 9 is out of bounds for dimension 1 with size 4, MLX gives", given.tolist())
sys.exit(1)
