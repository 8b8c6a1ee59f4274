"""nn.GroupNorm: oneflow accepts what torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_normalisation.py::test_of_any_numbers[name='GroupNorm'], trial 12 of base seed 3187269878.
oneflow: it accepts what torch refuses"""
import sys
import numpy as np

def program(torch):
    m0 = torch.nn.GroupNorm(1, 1)
    x0 = torch.tensor(np.array([[[0.0]]], "float32"))
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
