"""norm: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_reduction.py::TestReduction.test_norm, trial 8 of base seed 0.
semantic difference: a kink, where more than one gradient is right"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([[1.5, 1.5, 1.0], [1.5, 1.5, 1.0]], "float32"), requires_grad=True)
    v1 = torch.norm(x0, p=float("inf"), dim=0, keepdim=False)
    v1.backward(torch.tensor(np.array([0.9527502, 0.38607693, -0.4583255], "float32")))
    return x0.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[1.5, 1.5, 1.0], [1.5, 1.5, 1.0]], "float32")).requires_grad_()
    v1 = paddle.norm(x0, p=float("inf"), dim=0, keepdim=False)
    c2 = paddle.to_tensor(np.array([0.9527502, 0.38607693, -0.4583255], "float32"))
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
