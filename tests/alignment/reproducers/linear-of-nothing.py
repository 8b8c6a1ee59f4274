"""nn.functional.linear: v8 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_edges.py::test_without_elements[name='linear'], trial 0 of base seed 0.
nondeterministic: oneflow does not agree with itself"""
import sys
import numpy as np

X0 = np.array([[-1.532345, 0.07334149, 1.0977966], [-0.98843914, -1.5909188, 0.83719265]],
    "float32")
C9 = np.array([[-0.35410872, -0.21532229, -0.39272156], [0.03070575, -0.21251014, -0.4264348]],
    "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    x1 = torch.tensor(np.array([[-1.225383], [-0.57252604]], "float32"), requires_grad=True)
    v2 = x1 + 4
    x2 = torch.tensor(np.array([[0.8483943, -0.93232375, 0.7677034]], "float32"), requires_grad=True)
    v4 = x2 + 4
    torch.addmm(x0, v2, v4)
    x3 = torch.tensor(np.zeros((2, 0), "float32"), requires_grad=True)
    x4 = torch.tensor(np.zeros((3, 0), "float32"), requires_grad=True)
    v8 = torch.nn.functional.linear(x3, x4)
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
