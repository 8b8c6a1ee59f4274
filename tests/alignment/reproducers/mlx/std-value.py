"""std: v2 differs in value between torch and mlx. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, mlx 0.32.4; test_reduction.py::test_spread_of_equal_elements[name='std'], trial 0 of base seed 77.
torch is the specification: mlx differs in value; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[4.84046], [-4.9578276], [2.389071], [8.12885]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = x0.expand(4, 3)
    v2 = torch.std(v1, dim=1)
    return v2.tolist()

def in_mx():
    import mlx.core as mx
    x0 = mx.array(np.array([[4.84046], [-4.9578276], [2.389071], [8.12885]], "float32"))
    v1 = mx.broadcast_to(x0, (4, 3))
    t2 = mx.var(v1, axis=1, keepdims=False, ddof=1)
    t3 = t2 == 0
    v2 = mx.where(t3, 0, mx.sqrt(mx.where(t2 == 0, 1, t2)))
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_mx()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1.1680077705022996e-09, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, mlx {actual}".split())[:1000])
sys.exit(1)
