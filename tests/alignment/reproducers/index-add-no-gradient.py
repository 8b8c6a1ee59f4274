"""index_add: oneflow raises where torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_indexing.py::TestWriting.test_index_add, trial 0 of base seed 0.
oneflow: it refuses or lacks what torch accepts"""
import sys
import numpy as np

X0 = np.array([[-1.8636374], [-0.16536242], [0.079482436], [0.7418076]], "float32")
X2 = np.array([[1.7075843], [-1.3338048], [1.0108224]], "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    x1 = torch.tensor(np.array([1, 2, 3], "int64"))
    x2 = torch.tensor(X2, requires_grad=True)
    return torch.index_add(x0, 0, x1, x2)

def run(framework):
    result = program(framework)
    return result.tolist() if hasattr(result, "tolist") else result

try:
    import torch
    import oneflow
    run(torch)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    print("oneflow returns", run(oneflow))
except Exception as error:
    sys.exit(print("oneflow raises", error) or 1)
