"""prod: v1 differs in dtype between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_reduction.py::test_of_other_dtypes[name='prod'], trial 0 of base seed 0.
torch is the specification: tinygrad differs in dtype, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[3, 2, 1, 1], [1, 2, 2, 2], [3, 3, 3, 2]], "uint8")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = torch.prod(x0)
    torch.prod(x0, dim=0)
    return str(v1.dtype).split(".")[-1]

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[3, 2, 1, 1], [1, 2, 2, 2], [3, 3, 3, 2]], "uint8"))
    v1 = x0.prod()
    return str(v1.numpy().dtype)

try:
    expected = in_torch()
    actual = in_tinygrad()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if expected == actual:
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, tinygrad {actual}".split())[:1000])
sys.exit(1)
