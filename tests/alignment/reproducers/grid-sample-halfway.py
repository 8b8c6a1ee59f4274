"""nn.functional.grid_sample: v2 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_shape.py::TestResampling.test_grid_sample_halfway_between_two_pixels, trial 0 of base seed 0.
torch is the specification: oneflow differs in value, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[[[-0.800278, -0.45988804]]], [[[-0.41457134, -0.3030923]]]], "float32")
X1 = np.array([[[[-0.0, 0.0], [0.0, 0.0]]], [[[-0.0, 0.0], [-0.0, 0.0]]]], "float32")

def program(torch):
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    return torch.nn.functional.grid_sample(x0, x1, mode="nearest")

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
