"""setitem: x0.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_indexing.py::TestWriting.test_assignment_with_a_cotangent_of_gaps, trial 0 of base seed 0.
oneflow: the gradient of the last row is lost when the cotangent is not contiguous"""

import sys
import numpy as np


def program(torch):
    x0 = torch.tensor(np.ones((4, 3), "float32"), requires_grad=True)
    v1 = x0 * 1
    v1[1:3] = torch.tensor(np.ones((2, 3), "float32"), requires_grad=True)
    v1.backward(torch.tensor(np.ones((4, 3, 2), "float32"))[..., 0])
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
