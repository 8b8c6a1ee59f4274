"""nn.LayerNorm: v3 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_modules.py::test_layer_normalisation_beyond_the_greatest_numbers, trial 0 of base seed 0.
both: torch and oneflow are further from the float64 result than rounding"""
import sys
import numpy as np

X0 = np.array([[-1.4106159e+38, -1.4215307e+38, -1.9682805e+38], [4.124068e+37, 6.5216374e+37,
    -2.4320956e+38]], "float32")

def program(torch):
    m0 = torch.nn.LayerNorm(3)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.array([1.0, 1.0, 1.0], "float32")))
        m0.bias.copy_(torch.tensor(np.array([0.0, 0.0, 0.0], "float32")))
    x0 = torch.tensor(X0)
    return m0(x0)

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
