"""nn.functional.kl_div: v2 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_loss.py::TestDistances.test_kl_divergence_of_negative_targets, trial 7 of base seed 3762921255.
oneflow: NumPy gives 1.38629436, as torch does"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array(0.0, "float64"))
    x1 = torch.tensor(np.array(2.0, "float64"))
    return torch.nn.functional.kl_div(x0, x1)

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
if expected.shape == actual.shape and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True):
    sys.exit(print("same"))
print(*f"DIFFERS: torch gives {expected}, oneflow {actual}".split())
sys.exit(1)
