"""setitem: x0.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_indexing.py::TestWriting.test_assignment_to_slices, trial 4 of base seed 0.
oneflow: finite difference of its own forward gives 1 at (1, 0), as torch does"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([[0.0, 0.0], [0.0, 0.0]], "float32"), requires_grad=True)
    v1 = x0 * 1
    v1[0:1] = 0
    x1 = torch.tensor(np.array(1.0, "float32"))  # cotangent
    v4 = x1.expand((2, 2))  # layout
    v1.backward(v4)
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
