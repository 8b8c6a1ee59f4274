"""nn.BatchNorm1d: m0.running_mean differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_normalisation.py::test_in_double_precision[name='BatchNorm1d']."""
import sys
import numpy as np

def program(torch):
    m0 = torch.nn.BatchNorm1d(1).double()
    m0(torch.tensor(np.array([[1.0], [2.0]])))
    return m0.running_mean

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True)))
