"""nn.functional.layer_norm: v2 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_normalisation.py::TestNormalisation.test_functional_layer_norm_without_bias, trial 0 of base seed 0.
oneflow: NumPy gives 0 at (0, 0), as torch does"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([[1.0, 0.0]], "float32"))
    x1 = torch.tensor(np.array([0.0, 0.0], "float32"))
    return torch.nn.functional.layer_norm(x0, (2,), x1)

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    actual = np.array(program(oneflow).tolist())
except Exception as error:
    sys.exit(print(*f"DIFFERS: oneflow raises {type(error).__name__}: {error}".split()) or 1)
if expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
sys.exit(print(*f"DIFFERS: torch gives {expected}, oneflow {actual}".split()) or 1)
