"""nn.CELU: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_activation.py::TestWithParameters.test_elu_and_celu, trial 7 of base seed 0.
torch: difference of its own forward gives -0.0262324657 at (0, 0), as paddle does"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([[0.0]], "float64"), requires_grad=True)
    m1 = torch.nn.ELU(alpha=1.2456886250593067)
    v2 = m1(x0)
    m3 = torch.nn.CELU(alpha=1.2456886250593067)
    v4 = m3(x0)
    torch.autograd.backward([v2, v4], [torch.tensor(np.array([[0.22745825837651423]], "float64")), torch.tensor(np.array([[-0.026232465677458905]], "float64"))])
    return x0.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[0.0]], "float64")).requires_grad_()
    m1 = paddle.nn.ELU(alpha=1.2456886250593067)
    v2 = m1(x0)
    m3 = paddle.nn.CELU(alpha=1.2456886250593067)
    v4 = m3(x0)
    c5 = paddle.to_tensor(np.array([[0.22745825837651423]], "float64"))
    c6 = paddle.to_tensor(np.array([[-0.026232465677458905]], "float64"))
    paddle.autograd.backward([v2, v4], [c5, c6])
    t8 = x0.grad.detach()
    return t8.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
