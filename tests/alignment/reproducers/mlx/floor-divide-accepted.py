"""floor_divide: MLX divides integers by zero, which torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0, mlx 0.32.4; test_edges.py::test_what_torch_refuses[name='floor_divide']."""

import sys

try:
    import mlx.core as mx
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)
mx.set_default_device(mx.cpu)

try:
    given = mx.floor_divide(mx.array([5, -5]), mx.array([0, 0]))
except Exception as error:  # noqa: BLE001 - refused, as torch does
    sys.exit(print("same:", error))
print("DIFFERS: torch raises RuntimeError: ZeroDivisionError, MLX gives", given.tolist())
sys.exit(1)
