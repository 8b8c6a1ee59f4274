"""nn.BatchNorm1d: oneflow accepts what torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_normalisation.py::test_of_another_dtype_is_refused[name='BatchNorm1d']."""
import sys
import numpy as np

def program(torch):
    return torch.nn.BatchNorm1d(1)(torch.tensor(np.array([[1.0], [2.0]])))

def ends(framework):
    try:
        program(framework).tolist()
        return "returns"
    except Exception as error:
        return f"raises {error}"

try:
    import torch
    import oneflow
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
print("torch", ends(torch))
print("oneflow", ends(oneflow))
sys.exit(ends(torch) != "returns" and ends(oneflow) == "returns")
