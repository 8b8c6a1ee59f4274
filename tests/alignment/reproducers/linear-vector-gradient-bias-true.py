"""nn.Linear: x0.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_matmul.py::test_linear_of_a_vector[bias=True], trial 8 of base seed 0.
torch is the specification: oneflow differs in gradient, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

def program(torch):
    m0 = torch.nn.Linear(2, 2)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.array([-0.2894722, -0.34637535], "float32")))
        m0.bias.copy_(torch.tensor(np.array([-0.35022372], "float32")))
    x0 = torch.tensor(np.array([-0.0, 0.0], "float32"), requires_grad=True)
    v3 = m0(x0)
    v3.backward(torch.tensor(np.array([-0.39390874, -0.39390874], "float32")))
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
