"""cross: v2 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_matmul.py::TestLinearAlgebra.test_cross_without_a_dimension, trial 1 of base seed 0.
oneflow: NumPy gives 0 at (0, 0, 1), as torch does"""
import sys
import numpy as np

X1 = np.array([[[0.0, 0.0, 0.0]], [[0.0, 9.0, 0.0]], [[0.0, 0.0, 0.0]]], "float32")

def program(torch):
    x0 = torch.tensor(np.array([[[1.0, 1.0, 1.0]]], "float32"))
    x1 = torch.tensor(X1)
    return torch.cross(x0, x1)

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
if expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(*f"DIFFERS: torch gives {expected}, oneflow {actual}".split())
sys.exit(1)
