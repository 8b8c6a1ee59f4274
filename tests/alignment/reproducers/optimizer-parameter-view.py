"""optim.SGD: v1 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_optimizer.py::TestAroundOptimizers.test_steps_on_a_parameter_that_is_a_view."""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([1.0, 1.0, 1.0], "float32"))
    v1 = x0[0:3:2].requires_grad_()
    o2 = torch.optim.SGD([v1], lr=1.0)
    (v1 * v1).sum().backward()
    o2.step()
    return v1

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)))
