"""atan2: oneflow raises where torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_elementwise.py::test_arithmetic_broadcasts[name='atan2'], trial 1 of base seed 0.
oneflow: it refuses or lacks what torch accepts"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([0.0, 0.0], "float32"))
    x1 = torch.tensor(np.array([[0.0, 0.0]], "float32"))
    return torch.atan2(x0, x1)

def run(framework):
    result = program(framework)
    return result.tolist() if hasattr(result, "tolist") else result

try:
    import torch
    import oneflow
    run(torch)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    print("oneflow returns", run(oneflow))
except Exception as error:
    sys.exit(print("oneflow raises", error) or 1)
