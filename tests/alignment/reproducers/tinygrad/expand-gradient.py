"""std: tinygrad's gradient where all numbers are equal is NaN. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1, tinygrad 0.14.0; test_reduction.py::test_gradient_of_the_spread_of_equal_elements[name='std']."""

import os
import shutil
import sys

import numpy as np

if shutil.which("clang") is None:
    os.environ.setdefault("DEV", "PYTHON")  # the device that interprets

X = np.array([[8.0], [4.0]], "float32")
try:
    import torch
    from tinygrad import Tensor

    leaf = torch.tensor(X, requires_grad=True)
    leaf.expand(2, 5).std(dim=1).sum().backward()
    expected = leaf.grad.numpy()
    own = Tensor(X).clone()
    (gradient,) = own.expand(2, 5).std(1).sum().gradient(own)
    actual = gradient.numpy()
except Exception as error:  # noqa: BLE001 - whatever it is
    sys.exit(print("cannot tell:", error) or 2)
if np.allclose(actual, expected):
    sys.exit(print("same"))
print("DIFFERS: torch gives", expected.tolist(), "tinygrad", actual.tolist())
sys.exit(1)
