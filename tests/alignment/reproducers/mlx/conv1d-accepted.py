"""nn.Conv1d: MLX convolves doubles with weights of float32, which torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0, mlx 0.32.4; test_edges.py::test_what_torch_refuses[name='conv1d of another dtype']."""

import sys

import numpy as np

try:
    import mlx.core as mx
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)
mx.set_default_device(mx.cpu)

try:
    given = mx.conv1d(mx.array(np.ones((3, 6, 2)), mx.float64), mx.ones((1, 3, 2)))
except Exception as error:  # noqa: BLE001 - refused, as torch does
    sys.exit(print("same:", error))
print("DIFFERS: torch raises RuntimeError: Input type (double) and bias type (float) should be the same, MLX gives", given.tolist())
sys.exit(1)
