"""floordiv: v1 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_elementwise.py::TestArithmetic.test_integer_quotient, trial 0 of base seed 0.
inconclusive: the two sides differ in double precision too, and no third opinion decides between them"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array(-1, "int64"))
    return x0 // 2

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.array_equal(expected, actual)))
