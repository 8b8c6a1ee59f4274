"""sort: v1[1] differs in dtype between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_reduction.py::TestOrder.test_dtype_of_places_of_sort, trial 0 of base seed 0.
semantic difference: in dtype; no third opinion on which side is right"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([0.0], "float32"))
    v1 = torch.sort(x0)
    return v1[1]

try:
    import torch
    import oneflow
    expected = str(program(torch).dtype).split(".")[-1]
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = str(program(oneflow).dtype).split(".")[-1]
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(expected != actual)
