"""var: v1 differs in value between torch and mlx. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, mlx 0.32.4; test_reduction.py::test_spread_of_equal_elements[name='var'], trial 0 of base seed 0.
torch is the specification: mlx differs in value; no independent oracle can decide"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([-2.5936816, -2.5936816, -2.5936816], "float32"))
    v1 = torch.var(x0)
    return v1.tolist()

def in_mx():
    import mlx.core as mx
    x0 = mx.array(np.array([-2.5936816, -2.5936816, -2.5936816], "float32"))
    v1 = mx.var(x0, axis=None, keepdims=False, ddof=1)
    return v1.tolist()

try:
    expected = in_torch()
    actual = in_mx()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 8.526512829121202e-17, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, mlx {actual}".split())[:1000])
sys.exit(1)
