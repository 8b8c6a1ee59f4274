"""nn.Hardtanh: x0.grad differs in gradient between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_activation.py::test_gradient_at_the_corners[name='Hardtanh'], trial 0 of base seed 0.
semantic difference: a kink, where more than one gradient is right"""
import sys
import numpy as np

X0 = np.array([[3.0, 2.0, 3.0, 0.0, 1.0], [0.0, 5.0, 3.0, -5.0, 2.0], [-6.0, -3.0, 6.0, -1.0, -4.0],
    [-1.0, 3.0, 4.0, 4.0, 3.0]], "float32")
C3 = np.array([[0.5963745, -0.73567057, -0.6762475, 0.45931256, -0.4910171], [-0.8182852,
    0.102188826, -0.73700774, -0.09217131, -0.3065592], [-0.64798665, -0.29397237, -0.0148139,
    -0.9367864, 0.914158], [-0.82951045, -0.61007404, -0.7630029, 0.5534662, -0.3677113]],
    "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0, requires_grad=True)
    m1 = torch.nn.Hardtanh()
    v2 = m1(x0)
    v2.backward(torch.tensor(C3))
    return x0.grad.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[3.0, 2.0, 3.0, 0.0, 1.0], [0.0, 5.0, 3.0, -5.0, 2.0], [-6.0, -3.0, 6.0, -1.0, -4.0], [-1.0, 3.0, 4.0, 4.0, 3.0]], "float32"))
    c3 = tinygrad.Tensor(np.array([[0.5963745, -0.73567057, -0.6762475, 0.45931256, -0.4910171], [-0.8182852, 0.102188826, -0.73700774, -0.09217131, -0.3065592], [-0.64798665, -0.29397237, -0.0148139, -0.9367864, 0.914158], [-0.82951045, -0.61007404, -0.7630029, 0.5534662, -0.3677113]], "float32"))

    def forward(x0):
        v2 = x0.hardtanh(-1.0, 1.0)
        return v2

    inputs = [one.clone() for one in (x0,)]  # constants are lazy, and computed of the same
    g0, = forward(*inputs).gradient(*inputs, gradient=c3)
    return g0.tolist()

try:
    expected = in_torch()
    actual = in_tinygrad()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, tinygrad {actual}".split())[:1000])
sys.exit(1)
