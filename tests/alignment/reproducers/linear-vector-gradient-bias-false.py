"""nn.Linear: v3.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_matmul.py::test_linear_of_a_vector[bias=False], trial 8 of base seed 950299215.
torch is the specification: oneflow differs in gradient; no independent oracle can decide"""
import sys
import numpy as np

A0 = np.array([[-0.36242834, 0.65412563], [-0.1278732, 0.53925115]], "float32")

def program(torch):
    m0 = torch.nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(A0))
    x0 = torch.tensor(np.array([113.0, -0.0, 113.0, 0.0, 113.0], "float32"))
    v3 = x0[1:5:2,]  # layout
    v4 = v3.requires_grad_()  # layout
    v5 = m0(v4)
    x1 = torch.tensor(np.array([1.0], "float32"))  # cotangent
    v7 = x1.expand((2,))  # layout
    v5.backward(v7)
    return v3.grad

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    actual = np.array(program(oneflow).tolist())
except Exception as error:
    sys.exit(print(*f"DIFFERS: oneflow raises {type(error).__name__}: {error}".split()) or 1)
if expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
sys.exit(print(*f"DIFFERS: torch gives {expected}, oneflow {actual}".split()) or 1)
