"""nn.functional.gelu: v1 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_activation.py::TestWithParameters.test_gelu_by_tanh, trial 16 of base seed 0.
oneflow: torch._refs.nn.functional.gelu gives -0.0454023059, as torch does"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array(-2.0, "float64"))
    return torch.nn.functional.gelu(x0, approximate="tanh")

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
if expected.shape == actual.shape and np.allclose(actual, expected, 1e-09, 4.5402305912224937e-10, equal_nan=True):
    sys.exit(print("same"))
print(*f"DIFFERS: torch gives {expected}, oneflow {actual}".split())
sys.exit(1)
