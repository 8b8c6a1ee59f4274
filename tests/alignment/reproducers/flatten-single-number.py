"""flatten: v1 differs in shape between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_edges.py::test_single_numbers[name='flatten'], trial 0 of base seed 0.
semantic difference: in shape; no third opinion on which side is right"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array(0.0, "float32"))
    return torch.flatten(x0)

try:
    import torch
    import oneflow
    expected = tuple(program(torch).shape)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = tuple(program(oneflow).shape)
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(expected != actual)
