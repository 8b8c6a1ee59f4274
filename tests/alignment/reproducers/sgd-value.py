"""optim.SGD: x0 differs in value between torch and oneflow. Exits 1 while that is so, 0 when it is gone, 2 when it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_optimizer.py::TestAroundOptimizers.test_learning_rate_in_steps, trial 6 of base seed 0.
torch is the specification: oneflow differs in value, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([1.0, 1.0, 1.0], "float32"))
    v1 = x0[0:3:2,]  # layout
    v2 = v1.requires_grad_()  # layout
    o3 = torch.optim.SGD([v2], lr=1.0)
    v4 = v2 * v2
    v5 = v4.sum()
    v5.backward()
    o3.step()
    return x0

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)))
