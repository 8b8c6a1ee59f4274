"""scatter: v2 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_indexing.py::TestWriting.test_scatter_a_number, trial 7 of base seed 0.
torch is the specification: oneflow differs in value, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[0.0, 0.061078338185877934, 0.2343970995114566, -1.0557655437219546],
    [-0.13651392332041834, -0.05460634531926012, -0.0, 1.609268354428962], [-0.899286429206284, 0.0,
    -0.8145641484594065, -1.1565500821908046], [-0.5830498070568472, 1.2251700917201103,
    0.40160403663472555, -0.1857298395676189]], "float64")

def program(torch):
    x0 = torch.tensor(X0)
    x1 = torch.tensor(np.array([[3]], "int64"))
    return torch.scatter(x0, 0, x1, -1.3902141411477111)

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True)))
