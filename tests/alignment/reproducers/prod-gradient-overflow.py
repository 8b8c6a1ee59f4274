"""prod: x0.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_reduction.py::test_along_one_dimension[name='prod'], trial 114 of base seed 1135134394.
torch: its error against the float64 result is larger than rounding explains"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([1e-5, 1e20, 1e20], "float32"), requires_grad=True)
    v1 = torch.prod(x0)
    v1.backward(torch.tensor(np.array(0.0, "float32")))
    return x0.grad

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)))
