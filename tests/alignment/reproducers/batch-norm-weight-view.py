"""nn.functional.batch_norm: x0.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_normalisation.py::TestNormalisation.test_weights_that_are_a_view."""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([[1.0, 2.0]], "float32"), requires_grad=True)
    x1 = torch.tensor(np.array([113.0, 1.0, 1.0], "float32"))
    v2 = torch.nn.functional.batch_norm(x0, torch.zeros(2), torch.ones(2), x1[1:], torch.zeros(2))
    v2.sum().backward()
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
