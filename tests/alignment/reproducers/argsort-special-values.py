"""argsort: v1 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_reduction.py::TestOrder.test_dtype_of_places_of_argsort, trial 4 of base seed 0.
torch is the specification: oneflow differs in value, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([np.nan, -0.0], "float32"))
    return torch.argsort(x0)

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
if expected.shape == actual.shape and np.array_equal(expected, actual):
    sys.exit(print("same"))
print(*f"DIFFERS: torch gives {expected}, oneflow {actual}".split())
sys.exit(1)
