"""nn.AdaptiveAvgPool1d: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_pooling.py::test_average_to_a_size[rank=1], trial 16 of base seed 0.
paddle: difference of its own forward gives 0.333333333 at (0, 0, 0), as torch does"""
import sys
import numpy as np

def in_torch():
    import torch
    m0 = torch.nn.AdaptiveAvgPool1d(1)
    x0 = torch.tensor(np.array([[[0.0, 0.0, 0.0]]], "float64"), requires_grad=True)
    v2 = m0(x0)
    v2.backward(torch.tensor(np.array([[[1.0]]], "float64")))
    return x0.grad.tolist()

def in_paddle():
    import paddle
    m0 = paddle.nn.AdaptiveAvgPool1d(1)
    x0 = paddle.to_tensor(np.array([[[0.0, 0.0, 0.0]]], "float64")).requires_grad_()
    v2 = m0(x0)
    c3 = paddle.to_tensor(np.array([[[1.0]]], "float64"))
    v2.backward(c3)
    t5 = x0.grad.detach()
    return t5.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
