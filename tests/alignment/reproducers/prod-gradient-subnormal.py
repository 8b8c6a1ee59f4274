"""prod: x0.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_reduction.py::test_along_one_dimension[name='prod'], trial 4 of base seed 11.
both: torch and oneflow are further from the float64 result than rounding"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([1e-45, -1.3673036], "float32"), requires_grad=True)
    v1 = torch.prod(x0)
    v1.backward(torch.tensor(np.array(-0.70518744, "float32")))
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
