"""sort: v1[0] differs in value between torch and oneflow. Exits 1 while that is so, 0 when it is gone, 2 when it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_reduction.py::TestOrder.test_dtype_of_places_of_sort, trial 4 of base seed 0.
oneflow: NumPy gives -3 at (0,), as torch does"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([np.nan, -3.0], "float32"))
    v1 = torch.sort(x0)
    return v1[0]

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)))
