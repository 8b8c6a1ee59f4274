"""copy_: x0 differs in requires_grad between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_elementwise.py::TestInPlace.test_copying, trial 13 of base seed 23757.
torch is the specification: oneflow differs in requires_grad; no independent oracle can decide"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array(0.0, "float32"))
    x1 = torch.tensor(np.array(0.0, "float32"), requires_grad=True)
    x0.copy_(x1)
    return x0

try:
    import torch
    import oneflow
    expected = program(torch).requires_grad
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    actual = program(oneflow).requires_grad
except Exception as error:
    sys.exit(print(*f"DIFFERS: oneflow raises {type(error).__name__}: {error}".split()) or 1)
if expected == actual:
    sys.exit(print("same"))
sys.exit(print(*f"DIFFERS: torch has requires_grad {expected}, oneflow {actual}".split()) or 1)
