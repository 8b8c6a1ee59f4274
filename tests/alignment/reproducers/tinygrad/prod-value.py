"""prod: v1 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, tinygrad 0.14.0; test_reduction.py::test_of_other_dtypes[name='prod'], trial 0 of base seed 0.
tinygrad: NumPy gives 432, as torch does"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([2, 2, 2, 3, 3, 3, 2], "uint8"))
    v1 = torch.prod(x0)
    return v1.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([2, 2, 2, 3, 3, 3, 2], "uint8"))
    v1 = x0.prod()
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
