"""nn.Hardsigmoid: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_activation.py::test_gradient_at_the_corners[name='Hardsigmoid'], trial 17 of base seed 0.
torch is the specification: paddle differs in gradient, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[4.0, -6.0, 0.0, -6.0, -3.0], [4.0, -6.0, 0.0, -6.0, -3.0], [4.0, -6.0, 0.0, -6.0,
    -3.0], [4.0, -6.0, 0.0, -6.0, -3.0]], "float64")
C3 = np.array([[0.3266456098221985, -0.7190325398633073, -0.1533572486099844, -0.9937104095816491,
    -0.4351553394553605], [-0.987267335227616, 0.8972901029829398, -0.9622723713526964,
    -0.7929089546240029, -0.7279585232928827], [0.16320617652557778, -0.046123914379568476,
    -0.9211718094564016, 0.4869675704416202, -0.13680365229165897], [0.2575651605258763,
    -0.6732554532382689, 0.015438036396651866, 0.9241459208454911, -0.8558195438590559]], "float64")

def in_torch():
    import torch
    m0 = torch.nn.Hardsigmoid()
    x0 = torch.tensor(X0, requires_grad=True)
    v2 = m0(x0)
    v2.backward(torch.tensor(C3))
    return x0.grad.tolist()

def in_paddle():
    import paddle
    m0 = paddle.nn.Hardsigmoid()
    x0 = paddle.to_tensor(np.array([[4.0, -6.0, 0.0, -6.0, -3.0], [4.0, -6.0, 0.0, -6.0, -3.0], [4.0, -6.0, 0.0, -6.0, -3.0], [4.0, -6.0, 0.0, -6.0, -3.0]], "float64")).requires_grad_()
    v2 = m0(x0)
    c3 = paddle.to_tensor(np.array([[0.3266456098221985, -0.7190325398633073, -0.1533572486099844, -0.9937104095816491, -0.4351553394553605], [-0.987267335227616, 0.8972901029829398, -0.9622723713526964, -0.7929089546240029, -0.7279585232928827], [0.16320617652557778, -0.046123914379568476, -0.9211718094564016, 0.4869675704416202, -0.13680365229165897], [0.2575651605258763, -0.6732554532382689, 0.015438036396651866, 0.9241459208454911, -0.8558195438590559]], "float64"))
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
