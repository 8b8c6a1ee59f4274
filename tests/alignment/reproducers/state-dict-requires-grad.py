"""state_dict: v2['weight'] differs in requires_grad between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_modules.py::test_a_state_has_no_gradients, trial 0 of base seed 0.
torch is the specification: oneflow differs in requires_grad; nobody else has an opinion"""
import sys
import numpy as np

def program(torch):
    m0 = torch.nn.Linear(1, 0)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.array(0.0, "float32")))
        m0.bias.copy_(torch.tensor(np.array(0.0, "float32")))
    v2 = m0.state_dict()
    return v2['weight']

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
