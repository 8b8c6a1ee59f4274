"""asin: tinygrad's result in float64 has the precision of float32. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1, tinygrad 0.14.0; test_elementwise.py::test_unary[name='asin']."""

import os
import shutil
import sys

import numpy as np

if shutil.which("clang") is None:
    os.environ.setdefault("DEV", "PYTHON")  # the device that interprets

X = np.array([0.25, 0.5, -0.75], "float64")
try:
    import torch
    from tinygrad import Tensor, dtypes

    expected = torch.asin(torch.tensor(X)).numpy()
    actual = Tensor(X).asin().numpy()
except Exception as error:  # noqa: BLE001 - whatever it is
    sys.exit(print("cannot tell:", error) or 2)
if actual.dtype == expected.dtype and np.allclose(actual, expected, 1e-9, 1e-9):
    sys.exit(print("same"))
print("DIFFERS: torch gives", expected.tolist(), "tinygrad", actual.tolist())
sys.exit(1)
