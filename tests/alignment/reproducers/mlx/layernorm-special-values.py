"""nn.LayerNorm: v4 differs in value between torch and mlx. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, mlx 0.32.4; test_modules.py::test_layer_normalisation_beyond_the_greatest_numbers, trial 0 of base seed 77.
torch is the specification: mlx differs in value; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[-0.55300915, -0.7253474, 0.071596146], [-0.38855338, -0.37834477, 0.5767164]],
    "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    m1 = torch.nn.LayerNorm(3)
    with torch.no_grad():
        m1.weight.copy_(torch.tensor(np.array([1.0, 1.0, 1.0], "float32")))
        m1.bias.copy_(torch.tensor(np.array([0.0, 0.0, 0.0], "float32")))
    v3 = x0 * 3e+38
    v4 = m1(v3)
    return v4.tolist()

def in_mx():
    import mlx.core as mx
    x0 = mx.array(np.array([[-0.55300915, -0.7253474, 0.071596146], [-0.38855338, -0.37834477, 0.5767164]], "float32"))
    t3 = mx.array(np.array([1.0, 1.0, 1.0], "float32"))
    t4 = mx.array(np.array([0.0, 0.0, 0.0], "float32"))
    v3 = mx.multiply(x0, 3e+38)
    t7 = v3 - mx.mean(v3, axis=(-1,), keepdims=True)
    v4 = t7 * mx.rsqrt(mx.mean(mx.square(t7), axis=(-1,), keepdims=True) + 1e-05) * t3 + t4
    return v4.tolist()

try:
    expected = in_torch()
    actual = in_mx()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, mlx {actual}".split())[:1000])
sys.exit(1)
