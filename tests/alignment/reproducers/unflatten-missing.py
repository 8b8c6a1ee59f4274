"""nn.Unflatten: oneflow raises where torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_networks.py::test_unflatten_as_a_layer, trial 0 of base seed 0.
oneflow: it refuses or lacks what torch accepts"""
import sys
import numpy as np

def program(torch):
    m0 = torch.nn.Unflatten(0, (0,))
    return m0

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
    run(oneflow)
    print("same")
except Exception as error:
    print(*f"DIFFERS: torch returns, oneflow raises {type(error).__name__}: {error}".split())
    sys.exit(1)
