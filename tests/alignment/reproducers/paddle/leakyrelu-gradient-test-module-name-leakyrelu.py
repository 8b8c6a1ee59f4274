"""nn.LeakyReLU: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_activation.py::test_module[name='LeakyReLU'], trial 2 of base seed 0.
semantic difference: a kink, where more than one gradient is right"""
import sys
import numpy as np

def in_torch():
    import torch
    m0 = torch.nn.LeakyReLU()
    m0.train(False)
    x0 = torch.tensor(np.array([-0.0, 2.8466394], "float32"), requires_grad=True)
    v3 = m0(x0)
    v3.backward(torch.tensor(np.array([0.954739, 0.8103577], "float32")))
    return x0.grad.tolist()

def in_paddle():
    import paddle
    m0 = paddle.nn.LeakyReLU()
    v1 = m0.train(False)
    x0 = paddle.to_tensor(np.array([-0.0, 2.8466394], "float32")).requires_grad_()
    v3 = m0(x0)
    c4 = paddle.to_tensor(np.array([0.954739, 0.8103577], "float32"))
    v3.backward(c4)
    t6 = x0.grad.detach()
    return t6.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
