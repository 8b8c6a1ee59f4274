"""nn.LeakyReLU: x0.grad differs in gradient between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_activation.py::test_gradient_at_the_corners[name='LeakyReLU'], trial 0 of base seed 0.
semantic difference: a kink, where more than one gradient is right"""
import sys
import numpy as np

X0 = np.array([[-6.0, 4.0, 2.0, -5.0, -3.0], [-3.0, 3.0, -4.0, 3.0, 0.0], [-4.0, -4.0, -2.0, 2.0,
    -4.0], [-5.0, 0.0, 1.0, 4.0, -4.0]], "float32")
C3 = np.array([[-0.20015693, -0.9840151, -0.49049735, 0.66470253, -0.3262155], [0.57180834,
    -0.34571815, -0.42005682, 0.39598727, 0.21332979], [0.63983035, 0.5797684, -0.70394313,
    -0.071796894, -0.41025817], [0.08908832, 0.9208864, 0.7101408, 0.6133672, 0.8256761]],
    "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0, requires_grad=True)
    m1 = torch.nn.LeakyReLU()
    v2 = m1(x0)
    v2.backward(torch.tensor(C3))
    return x0.grad.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[-6.0, 4.0, 2.0, -5.0, -3.0], [-3.0, 3.0, -4.0, 3.0, 0.0], [-4.0, -4.0, -2.0, 2.0, -4.0], [-5.0, 0.0, 1.0, 4.0, -4.0]], "float32"))
    c3 = tinygrad.Tensor(np.array([[-0.20015693, -0.9840151, -0.49049735, 0.66470253, -0.3262155], [0.57180834, -0.34571815, -0.42005682, 0.39598727, 0.21332979], [0.63983035, 0.5797684, -0.70394313, -0.071796894, -0.41025817], [0.08908832, 0.9208864, 0.7101408, 0.6133672, 0.8256761]], "float32"))

    def forward(x0):
        v2 = x0.leaky_relu()
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
