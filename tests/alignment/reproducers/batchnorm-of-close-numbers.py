"""nn.BatchNorm2d: v3 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_modules.py::test_one_value_per_channel_has_no_spread[rank=2], trial 12 of base seed 407334068.
torch is the specification: oneflow differs in value, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[[[-1.8797646]], [[-1.9312333]]], [[[1.0634209]], [[-1.9775743]]]], "float32")

def program(torch):
    m0 = torch.nn.BatchNorm2d(2)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.array(1.0, "float32")))
        m0.bias.copy_(torch.tensor(np.array(0.0, "float32")))
        m0.running_mean.copy_(torch.tensor(np.array(0.0, "float32")))
        m0.running_var.copy_(torch.tensor(np.array(0.0, "float32")))
        m0.num_batches_tracked.copy_(torch.tensor(np.array(0, "int64")))
    x0 = torch.tensor(X0)
    return m0(x0)

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
