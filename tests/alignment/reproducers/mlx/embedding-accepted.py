"""nn.functional.embedding: MLX takes an index beyond the last row, which torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, mlx 0.32.4; test_embedding.py::TestEmbedding.test_an_index_beyond_the_last_row_is_refused."""

import sys

import numpy as np

try:
    import mlx.core as mx
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

mx.set_default_device(mx.cpu)
try:
    given = np.array(mx.take(mx.array(np.ones((7, 2), "float32")), mx.array(np.array([7, 6])), axis=0)).shape
except Exception as error:  # noqa: BLE001 - refused, as torch does
    sys.exit(print("same:", error))
print("DIFFERS: torch raises IndexError: index out of range in self, MLX gives an array of shape", given)
sys.exit(1)
