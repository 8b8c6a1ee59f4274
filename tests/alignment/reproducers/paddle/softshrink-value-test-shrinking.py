"""nn.Softshrink: v2 differs in value between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_activation.py::TestWithParameters.test_shrinking, trial 14 of base seed 0.
paddle: torch._refs.nn.functional.softshrink gives 0.127814152, as torch does"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array(1.0, "float64"))
    m1 = torch.nn.Softshrink(0.872185847757709)
    v2 = m1(x0)
    return v2.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array(1.0, "float64"))
    m1 = paddle.nn.Softshrink(0.872185847757709)
    v2 = m1(x0)
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
