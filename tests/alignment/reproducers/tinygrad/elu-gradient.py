"""nn.ELU: x0.grad differs in gradient between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_activation.py::test_gradient_at_the_corners[name='ELU'], trial 0 of base seed 0.
tinygrad: difference of its own forward gives 0.555541438 at (2, 0), as torch does"""
import sys
import numpy as np

X0 = np.array([[-5.0, 2.0, 5.0, 5.0, 1.0], [-6.0, 1.0, -1.0, 3.0, 6.0], [0.0, -5.0, -5.0, 0.0,
    -3.0], [5.0, -1.0, 2.0, 6.0, 2.0]], "float32")
C3 = np.array([[-0.69178236, -0.9703467, 0.41700518, 0.4093027, 0.7242867], [-0.7413846, 0.03377819,
    -0.74100804, -0.7134018, 0.456038], [0.5555428, -0.20039332, -0.08197391, -0.53687894,
    -0.17961478], [0.23436499, 0.09665835, -0.935302, -0.7605516, 0.2371285]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0, requires_grad=True)
    m1 = torch.nn.ELU()
    v2 = m1(x0)
    v2.backward(torch.tensor(C3))
    return x0.grad.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[-5.0, 2.0, 5.0, 5.0, 1.0], [-6.0, 1.0, -1.0, 3.0, 6.0], [0.0, -5.0, -5.0, 0.0, -3.0], [5.0, -1.0, 2.0, 6.0, 2.0]], "float32"))
    c3 = tinygrad.Tensor(np.array([[-0.69178236, -0.9703467, 0.41700518, 0.4093027, 0.7242867], [-0.7413846, 0.03377819, -0.74100804, -0.7134018, 0.456038], [0.5555428, -0.20039332, -0.08197391, -0.53687894, -0.17961478], [0.23436499, 0.09665835, -0.935302, -0.7605516, 0.2371285]], "float32"))

    def forward(x0):
        v2 = x0.elu()
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
