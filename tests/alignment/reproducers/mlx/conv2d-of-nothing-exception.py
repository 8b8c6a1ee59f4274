"""nn.Conv2d: MLX has no gradient of a convolution of no images, which torch has. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0, mlx 0.32.4; test_edges.py::test_without_elements[name='conv2d']."""

import sys

try:
    import mlx.core as mx
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)
mx.set_default_device(mx.cpu)

try:
    mx.eval(mx.vjp(mx.conv2d, [mx.zeros((0, 6, 6, 2)), mx.ones((1, 3, 3, 2))], [mx.zeros((0, 4, 4, 1))])[1])
except Exception as error:  # noqa: BLE001 - of any class
    sys.exit(print(f"DIFFERS: torch gives zeros, MLX raises {type(error).__name__}: {error}") or 1)
print("same")
