"""amax: v1 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_reduction.py::test_of_special_values[name='amax'], trial 0 of base seed 0.
oneflow: NumPy gives nan, as torch does"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([np.nan, -2.0], "float32"))
    return torch.amax(x0)

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)))
