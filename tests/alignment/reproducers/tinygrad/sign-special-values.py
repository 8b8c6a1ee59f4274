"""sign: v1 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_elementwise.py::test_unary_of_special_values[name='sign'], trial 0 of base seed 0.
inconclusive: those who were asked contradict each other, or both sides"""
import sys
import numpy as np

X0 = np.array([[1.1754944e-38, 0.0, -2.578413, 2.1910446], [-1.1569352, -2.1982813, -2.5572343,
    -0.78060484], [2.2957394, 0.041903853, 1.7843964, -np.inf], [np.nan, -1.2552371, 1e-45,
    -1.3908882], [1.6915804, -2.1039867, 1.7030804, 2.8674672], [-2.705411, 0.2822945, -1.7460587,
    2.1242745]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = torch.sign(x0)
    return v1.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[1.1754944e-38, 0.0, -2.578413, 2.1910446], [-1.1569352, -2.1982813, -2.5572343, -0.78060484], [2.2957394, 0.041903853, 1.7843964, -np.inf], [np.nan, -1.2552371, 1e-45, -1.3908882], [1.6915804, -2.1039867, 1.7030804, 2.8674672], [-2.705411, 0.2822945, -1.7460587, 2.1242745]], "float32"))
    v1 = x0.sign()
    return v1.tolist()

try:
    expected = in_torch()
    actual = in_tinygrad()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, tinygrad {actual}".split())[:1000])
sys.exit(1)
