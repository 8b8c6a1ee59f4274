"""prod: v2 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_reduction.py::test_of_all_elements[name='prod'], trial 117 of base seed 3762921255.
torch: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([[2.0], [2.0], [2.0], [2.0], [0.0]], "float32"))
    v1 = x0.expand((5, 32))  # layout
    return torch.prod(v1)

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
