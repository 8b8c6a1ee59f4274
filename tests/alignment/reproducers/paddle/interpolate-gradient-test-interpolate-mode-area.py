"""nn.functional.interpolate: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_shape.py::test_interpolate[mode='area'], trial 14 of base seed 0.
paddle: difference of its own forward gives -0.161986549 at (0, 1, 0, 0), as torch does"""
import sys
import numpy as np

C3 = np.array([[[[0.3281338544871727]], [[-0.48595964747146075]]]], "float64")

def in_torch():
    import torch
    x0 = torch.tensor(np.full((1, 2, 3, 1), 113.0, "float64"))
    v1 = x0.requires_grad_()  # layout
    v2 = torch.nn.functional.interpolate(v1, size=(1, 1), mode="area")
    v2.backward(torch.tensor(C3))
    return x0.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.full((1, 2, 3, 1), 113.0, "float64"))
    v1 = x0.requires_grad_()
    v2 = paddle.nn.functional.interpolate(v1, size=(1, 1), mode="area")
    c3 = paddle.to_tensor(np.array([[[[0.3281338544871727]], [[-0.48595964747146075]]]], "float64"))
    v2.backward(c3)
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
