"""log1p: v1 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_elementwise.py::test_unary_of_special_values[name='log1p'], trial 4 of base seed 0.
torch: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array(3.4028235e+38, "float32"))
    return torch.log1p(x0)

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)))
