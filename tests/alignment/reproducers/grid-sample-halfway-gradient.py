"""nn.functional.grid_sample: x0.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_shape.py::TestResampling.test_grid_sample_halfway_between_two_pixels, trial 14 of base seed 407334068.
torch is the specification: oneflow differs in gradient, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([[[[0.0, 0.0]]], [[[0.0, 0.0]]]], "float32"), requires_grad=True)
    x1 = torch.tensor(np.array([[[[0.0, 0.0]]], [[[0.0, 0.0]]]], "float32"))
    v2 = torch.nn.functional.grid_sample(x0, x1, mode="nearest")
    v2.backward(torch.tensor(np.array([[[[-1.0]]], [[[-1.0]]]], "float32")))
    return x0.grad

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
