"""clone: x0.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_elementwise.py::TestInPlace.test_filling_cuts_the_gradient, trial 5 of base seed 202213752.
oneflow: finite difference of its own forward gives 0 at (2, 0), as torch does"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.zeros((3, 2), "float32"), requires_grad=True)
    v1 = x0.clone()
    v2 = v1.fill_(0)
    x1 = torch.tensor(np.ones((3, 3), "float32"))  # cotangent
    v4 = x1[:, 0:3:2]  # layout
    v2.backward(v4)
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
