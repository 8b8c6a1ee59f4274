"""nn.Softplus: v2 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_activation.py::test_module_of_special_values[name='Softplus'], trial 0 of base seed 0.
tinygrad: NumPy gives inf at (0, 2), as torch does"""
import sys
import numpy as np

X0 = np.array([[-6.662448, -5.215699, np.inf, 5.753776, -2.4428217], [-3.711818, -1.1103928,
    -5.6098595, 6.0428395, 4.48272], [-3.4028235e+38, -3.5072396, 0.0, 7.2996364, 7.031276]],
    "float32")

def in_torch():
    import torch
    m0 = torch.nn.Softplus()
    x0 = torch.tensor(X0)
    v2 = m0(x0)
    return v2.tolist()

def in_tinygrad():
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[-6.662448, -5.215699, np.inf, 5.753776, -2.4428217], [-3.711818, -1.1103928, -5.6098595, 6.0428395, 4.48272], [-3.4028235e+38, -3.5072396, 0.0, 7.2996364, 7.031276]], "float32"))
    v2 = x0.softplus(1)
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_tinygrad()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, tinygrad {actual}".split())[:1000])
sys.exit(1)
