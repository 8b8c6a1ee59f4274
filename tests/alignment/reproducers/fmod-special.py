"""fmod: v2 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_elementwise.py::test_arithmetic_of_special_values[name='fmod'], trial 1 of base seed 0.
torch: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X1 = np.array([[-1.8382155, -1.5667739, 3.4028235e+38, 1.873296, np.nan, 1.7623894], [0.4661578,
    -np.inf, -0.28754508, 1.0509565, 2.967827, 3.4028235e+38], [-3.4028235e+38, -2.4426422,
    1.8626335, -0.24129975, 0.055987954, -0.0], [1.635421, 1.1754944e-38, 0.009714484, 1.475782,
    -0.3181709, 0.19776762], [-2.1524613, -2.8205743, 1e-45, 1.1754944e-38, 2.8374002, 2.1033256],
    [-2.228427, 0.9730891, np.nan, 0.33133876, -0.67566645, 2.6955917]], "float32")

def program(torch):
    x0 = torch.tensor(np.ones((6, 6), "float32"))
    x1 = torch.tensor(X1)
    return torch.fmod(x0, x1)

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)))
