"""nn.SmoothL1Loss: x1.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_loss.py::TestDistances.test_smooth_l1_by_beta, trial 8 of base seed 0.
semantic difference: a kink, where more than one gradient is right"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array(1.0, "float32"))
    x1 = torch.tensor(np.array(1.0, "float32"), requires_grad=True)
    m2 = torch.nn.SmoothL1Loss(beta=0.0)
    v3 = m2(x0, x1)
    v3.backward(torch.tensor(np.array(1.0, "float32")))
    return x1.grad

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
