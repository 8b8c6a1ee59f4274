"""nn.functional.leaky_relu: v1.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_activation.py::test_function[name='leaky_relu'], trial 7 of base seed 0.
semantic difference: a kink, where more than one gradient is right"""
import sys
import numpy as np

X0 = np.array([113.0, -1.3828773057558803, -0.0, 5.7420455691198375, -7.236033751160422,
    -0.9611983839609377, 113.0], "float64")
C4 = np.array([0.5652505459676113, -0.6702469998356433, 0.345816005431148, -0.250546720644433,
    -0.5494448393577502], "float64")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = x0[1:6:1,]  # layout
    v2 = v1.requires_grad_()  # layout
    v3 = torch.nn.functional.leaky_relu(v2)
    v3.backward(torch.tensor(C4))
    return v1.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([113.0, -1.3828773057558803, -0.0, 5.7420455691198375, -7.236033751160422, -0.9611983839609377, 113.0], "float64"))
    v1 = x0[1:6:1,]
    v2 = v1.requires_grad_()
    v3 = paddle.nn.functional.leaky_relu(v2)
    c4 = paddle.to_tensor(np.array([0.5652505459676113, -0.6702469998356433, 0.345816005431148, -0.250546720644433, -0.5494448393577502], "float64"))
    v3.backward(c4)
    t5 = v1.grad.detach()
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
