"""nn.functional.embedding: tinygrad takes an index beyond the last row, which torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1, tinygrad 0.14.0; test_embedding.py::TestEmbedding.test_an_index_beyond_the_last_row_is_refused."""

import os
import shutil
import sys

import numpy as np

if shutil.which("clang") is None:
    os.environ.setdefault("DEV", "PYTHON")  # the device that interprets

try:
    from tinygrad import Tensor
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

try:
    given = Tensor(np.ones((7, 2), "float32"))[Tensor(np.array([7, 6]))]
except Exception as error:  # noqa: BLE001 - refused, as torch does
    sys.exit(print("same:", error))
print("DIFFERS: torch raises IndexError: index out of range in self, tinygrad gives", given.tolist())
sys.exit(1)
