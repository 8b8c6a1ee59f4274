"""mm: v8 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_edges.py::test_without_elements[name='mm'], trial 0 of base seed 0.
nondeterministic: oneflow does not agree with itself"""
import sys
import numpy as np

X0 = np.array([[1.1808184, 1.6511987, -0.73508745], [-1.2652593, -1.154571, 0.48682344]], "float32")
C9 = np.array([[0.42888755, 0.302041, 0.26107973], [0.6683176, -0.20178512, 0.4128651]], "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    x1 = torch.tensor(np.array([[0.079025626], [-1.0505924]], "float32"), requires_grad=True)
    v2 = x1 + 4
    x2 = torch.tensor(np.array([[1.4451452, 1.0586482, -0.241813]], "float32"), requires_grad=True)
    v4 = x2 + 4
    torch.addmm(x0, v2, v4)
    x3 = torch.tensor(np.zeros((2, 0), "float32"), requires_grad=True)
    x4 = torch.tensor(np.zeros((0, 3), "float32"), requires_grad=True)
    v8 = torch.mm(x3, x4)
    v8.backward(torch.tensor(C9))
    return v8

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)))
