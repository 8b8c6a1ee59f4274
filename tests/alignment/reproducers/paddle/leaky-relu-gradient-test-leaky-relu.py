"""nn.functional.leaky_relu: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_activation.py::TestWithParameters.test_leaky_relu, trial 7 of base seed 0.
semantic difference: a kink, where more than one gradient is right"""
import sys
import numpy as np

X0 = np.array([[0.4944742457227711, 0.9521221081828253, -0.7199375889249409, -0.0,
    2.471565841095235, -1.1166405855493906]], "float64")
C2 = np.array([[0.050924895617151855, 0.29498388478897664, -0.29630277915755593, 0.9424835682174181,
    -0.06576583828394683, -0.4777761062372073]], "float64")

def in_torch():
    import torch
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.nn.functional.leaky_relu(x0, 0.7214828225426068)
    v1.backward(torch.tensor(C2))
    return x0.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[0.4944742457227711, 0.9521221081828253, -0.7199375889249409, -0.0, 2.471565841095235, -1.1166405855493906]], "float64")).requires_grad_()
    v1 = paddle.nn.functional.leaky_relu(x0, 0.7214828225426068)
    c2 = paddle.to_tensor(np.array([[0.050924895617151855, 0.29498388478897664, -0.29630277915755593, 0.9424835682174181, -0.06576583828394683, -0.4777761062372073]], "float64"))
    v1.backward(c2)
    t4 = x0.grad.detach()
    return t4.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
