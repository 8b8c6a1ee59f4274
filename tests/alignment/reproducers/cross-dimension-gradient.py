"""cross: x0.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_matmul.py::TestLinearAlgebra.test_cross_without_a_dimension, trial 6 of base seed 0.
torch is the specification: oneflow differs in gradient, also in float64; no independent oracle can decide"""
import sys
import numpy as np

X0 = np.array([[[3.5699139, -2.6257577, -0.14748903]]], "float32")
X1 = np.array([[[0.087588675, 0.17517735, 0.65691507]], [[0.26276603, 0.3503547, 0.0]],
    [[0.43794337, 0.0, 0.52553207]]], "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    x1 = torch.tensor(X1, requires_grad=True)
    v2 = torch.cross(x0, x1)
    v2.backward(torch.tensor(np.full((3, 1, 3), -0.4942701, "float32")))
    return x0.grad

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
if expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(*f"DIFFERS: torch gives {expected}, oneflow {actual}".split())
sys.exit(1)
