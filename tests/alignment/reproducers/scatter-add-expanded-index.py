"""scatter_add: x2.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_indexing.py::TestWriting.test_scatter_add, trial 7 of base seed 0.
torch: difference of its own forward gives -1 at (0, 0), as oneflow does"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.zeros((2, 3), "float32"))
    x1 = torch.tensor(np.array([[1], [1]], "int64"))
    v2 = x1.expand((2, 2))  # layout
    x2 = torch.tensor(np.array([[0.0, 0.0], [0.0, 0.0]], "float32"), requires_grad=True)
    v4 = torch.scatter_add(x0, 0, v2, x2)
    v4.backward(torch.tensor(np.array([[-1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]], "float32")))
    return x2.grad

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
