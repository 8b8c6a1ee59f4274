"""deepcopy: v1 differs in requires_grad between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_modules.py::test_a_copy_of_a_leaf_wants_its_gradient, trial 0 of base seed 0.
torch is the specification: oneflow differs in requires_grad; nobody else has an opinion"""
import copy, sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array(0.0, "float32"), requires_grad=True)
    return copy.deepcopy(x0)

try:
    import torch
    import oneflow
    expected = program(torch).requires_grad
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = program(oneflow).requires_grad
if expected == actual:
    sys.exit(print("same"))
print(*f"DIFFERS: torch has requires_grad {expected}, oneflow {actual}".split())
sys.exit(1)
