"""nn.Hardswish: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_activation.py::test_gradient_at_the_corners[name='Hardswish'], trial 0 of base seed 0.
semantic difference: a kink, where more than one gradient is right"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array(-3.0, "float32"), requires_grad=True)
    m1 = torch.nn.Hardswish()
    v2 = m1(x0)
    v2.backward(torch.tensor(np.array(1.0, "float32")))
    return x0.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array(-3.0, "float32")).requires_grad_()
    m1 = paddle.nn.Hardswish()
    v2 = m1(x0)
    c3 = paddle.to_tensor(np.array(1.0, "float32"))
    v2.backward(c3)
    t5 = x0.grad.detach()
    return t5.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
