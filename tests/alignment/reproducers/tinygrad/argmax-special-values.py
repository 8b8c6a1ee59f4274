"""argmax: v1 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_reduction.py::test_places_of_extremes_among_special_values[name='argmax'], trial 0 of base seed 0.
tinygrad: NumPy gives 2 at (2,), as torch does"""
import sys
import numpy as np

X0 = np.array([[-3.1686435, 0.74761224, 3.320902, -1.13611], [-3.119801, 0.48419595, 3.281916,
    -3.2797852], [3.7801273, -3.8747683, np.nan, 3.631511], [1.821142, 3.0668747, -np.inf, -1e-45],
    [-2.0525565, 2.3264873, -2.8882995, 2.8375838]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = torch.argmax(x0, dim=0)
    return v1.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[-3.1686435, 0.74761224, 3.320902, -1.13611], [-3.119801, 0.48419595, 3.281916, -3.2797852], [3.7801273, -3.8747683, np.nan, 3.631511], [1.821142, 3.0668747, -np.inf, -1e-45], [-2.0525565, 2.3264873, -2.8882995, 2.8375838]], "float32"))
    v1 = x0.argmax(0, False).cast("int64")
    return v1.tolist()

try:
    expected = in_torch()
    actual = in_tinygrad()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.array_equal(expected, actual):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, tinygrad {actual}".split())[:1000])
sys.exit(1)
