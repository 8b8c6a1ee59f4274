"""nn.functional.leaky_relu: v1 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_activation.py::TestWithParameters.test_leaky_relu, trial 14 of base seed 0.
oneflow: NumPy gives -1.36363016, as torch does"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array(-1.0, "float64"))
    return torch.nn.functional.leaky_relu(x0, 1.3636301607456223)

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True)))
