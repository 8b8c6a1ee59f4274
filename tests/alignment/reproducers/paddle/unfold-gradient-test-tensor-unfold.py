"""unfold: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_convolution.py::TestWindows.test_tensor_unfold, trial 1 of base seed 0.
paddle: difference of its own forward gives -0.84898901 at (1, 0), as torch does"""
import sys
import numpy as np

X0 = np.array([[-0.18563783], [-0.5099052], [-0.8261231]], "float32")
C2 = np.array([[[-0.4244945, -0.4244945]], [[-0.4244945, -0.4244945]]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = x0.unfold(0, 2, 1)
    v1.backward(torch.tensor(C2))
    return x0.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[-0.18563783], [-0.5099052], [-0.8261231]], "float32")).requires_grad_()
    v1 = x0.unfold(0, 2, 1)
    c2 = paddle.to_tensor(np.array([[[-0.4244945, -0.4244945]], [[-0.4244945, -0.4244945]]], "float32"))
    v1.backward(c2)
    t4 = x0.grad.detach()
    return t4.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
