"""nn.functional.leaky_relu: x0.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_activation.py::TestWithParameters.test_leaky_relu, trial 7 of base seed 0.
semantic difference: a kink, where more than one gradient is right"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array(-0.0, "float64"), requires_grad=True)
    v1 = torch.nn.functional.leaky_relu(x0, 0.7214828225426068)
    v1.backward(torch.tensor(np.array(1.0, "float64")))
    return x0.grad

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
if expected.shape == actual.shape and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True):
    sys.exit(print("same"))
print(*f"DIFFERS: torch gives {expected}, oneflow {actual}".split())
sys.exit(1)
