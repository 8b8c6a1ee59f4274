"""nn.BatchNorm1d: v3 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_normalisation.py::TestNormalisation.test_of_equal_numbers, trial 13 of base seed 23757.
both: the errors of torch and oneflow against the float64 result are larger than rounding explains"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([1.4453819, 1.6709532, 1.6863389], "float32"))
    v1 = x0.expand((5, 3))  # layout
    m2 = torch.nn.BatchNorm1d(3)
    return m2(v1)

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    actual = np.array(program(oneflow).tolist())
except Exception as error:
    sys.exit(print(*f"DIFFERS: oneflow raises {type(error).__name__}: {error}".split()) or 1)
if expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 3.76972857338842e-08, equal_nan=True):
    sys.exit(print("same"))
sys.exit(print(*f"DIFFERS: torch gives {expected}, oneflow {actual}".split()) or 1)
