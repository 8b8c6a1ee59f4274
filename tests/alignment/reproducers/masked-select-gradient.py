"""masked_select: v1.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_indexing.py::TestReading.test_mask, trial 9 of base seed 0.
torch: difference of its own forward gives 0 at (0, 1), as oneflow does"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([[-1.0, -1.0], [-1.0, -1.0]], "float32"))
    v1 = x0.transpose(0, 1)  # layout
    v2 = v1.requires_grad_()  # layout
    v2 > 0
    v4 = v2 < 0.0
    v5 = torch.masked_select(v2, v4)
    torch.autograd.backward([v2, v5], [torch.tensor(np.array([[0.0, 0.0], [0.0, 0.0]], "float32")), torch.tensor(np.array([0.1619314, 0.0, 0.1619314, 0.1619314], "float32"))])
    return v1.grad

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)))
