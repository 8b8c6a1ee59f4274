"""nn.TripletMarginLoss: v4 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_loss.py::TestClassification.test_triplets, trial 17 of base seed 0.
oneflow: torch._refs.nn.functional.triplet_margin_loss gives 1.06644032, as torch does"""
import sys
import numpy as np

def program(torch):
    m0 = torch.nn.TripletMarginLoss(margin=1.0664403194393366)
    x0 = torch.tensor(np.array(0.0, "float64"))
    x1 = torch.tensor(np.array(0.0, "float64"))
    x2 = torch.tensor(np.array(0.0, "float64"))
    return m0(x0, x1, x2)

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
