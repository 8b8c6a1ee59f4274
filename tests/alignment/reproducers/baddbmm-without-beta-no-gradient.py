"""baddbmm: x0.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_matmul.py::TestProducts.test_baddbmm_without_what_is_added_to, trial 0 of base seed 0.
torch is the specification: oneflow differs in gradient; nobody else has an opinion"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array(0.0, "float32"), requires_grad=True)
    x1 = torch.tensor(np.array([[[0.0]]], "float32"))
    x2 = torch.tensor(np.array([[[0.0]]], "float32"), requires_grad=True)
    v3 = torch.baddbmm(x0, x1, x2, beta=0.0)
    v3.backward(torch.tensor(np.array([[[0.0]]], "float32")))
    return x0.grad

try:
    import torch
    import oneflow
    expected = program(torch) is None
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = program(oneflow) is None
if expected == actual:
    sys.exit(print("same"))
print(*f"DIFFERS: torch lacks a gradient: {expected}, oneflow {actual}".split())
sys.exit(1)
