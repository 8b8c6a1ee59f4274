"""maximum: x0.grad differs in gradient between torch and mlx. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, mlx 0.32.4; test_elementwise.py::test_extremes_share_the_gradient_of_ties[name='maximum'], trial 0 of base seed 77.
torch is the specification: mlx differs in gradient; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[2.0, 1.0, 2.0, 0.0], [0.0, 1.0, 2.0, 2.0], [1.0, 1.0, 0.0, 1.0]], "float32")
X1 = np.array([[2.0, 1.0, 1.0, 1.0], [0.0, 0.0, 2.0, 1.0], [1.0, 0.0, 0.0, 2.0]], "float32")
C3 = np.array([[0.079374075, -0.6648773, -0.6594387, -0.44441688], [0.8167645, -0.28299892,
    0.83820224, 0.90920615], [-0.52990854, -0.095722795, -0.25306976, -0.13017261]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0, requires_grad=True)
    x1 = torch.tensor(X1, requires_grad=True)
    v2 = torch.maximum(x0, x1)
    v2.backward(torch.tensor(C3))
    return x0.grad.tolist()

def in_mx():
    import mlx.core as mx
    x0 = mx.array(np.array([[2.0, 1.0, 2.0, 0.0], [0.0, 1.0, 2.0, 2.0], [1.0, 1.0, 0.0, 1.0]], "float32"))
    x1 = mx.array(np.array([[2.0, 1.0, 1.0, 1.0], [0.0, 0.0, 2.0, 1.0], [1.0, 0.0, 0.0, 2.0]], "float32"))
    c3 = mx.array(np.array([[0.079374075, -0.6648773, -0.6594387, -0.44441688], [0.8167645, -0.28299892, 0.83820224, 0.90920615], [-0.52990854, -0.095722795, -0.25306976, -0.13017261]], "float32"))

    def forward(x0, x1):
        v2 = mx.maximum(x0, x1)
        return v2

    _, (g0, g1) = mx.vjp(forward, [x0, x1], [c3])
    return g0.tolist()

try:
    expected = in_torch()
    actual = in_mx()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, mlx {actual}".split())[:1000])
sys.exit(1)
