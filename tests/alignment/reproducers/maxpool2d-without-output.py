"""nn.MaxPool2d: oneflow accepts what torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_modules.py::test_pooling_over_more_than_there_is, trial 1 of base seed 0.
oneflow: it accepts what torch refuses"""
import sys
import numpy as np

X0 = np.array([[[[-0.9103154, -0.33722246, 0.7797669], [0.34582984, 0.4370873, 0.24324489],
    [0.8258079, -0.56378746, 0.12085891]]]], "float32")

def program(torch):
    m0 = torch.nn.MaxPool2d(4)
    x0 = torch.tensor(X0)
    return m0(x0)

def run(framework):
    result = program(framework)
    return result.tolist() if hasattr(result, "tolist") else result

try:
    import torch
    import oneflow
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    run(torch)
    sys.exit(print("cannot tell: torch accepts it, too") or 2)
except Exception as error:
    refusal = f"torch raises {type(error).__name__}: {error}"
try:
    result = run(oneflow)
except Exception:
    sys.exit(print("same"))
print(*f"DIFFERS: {refusal}, oneflow returns {result}".split())
sys.exit(1)
