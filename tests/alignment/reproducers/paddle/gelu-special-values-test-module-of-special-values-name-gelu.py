"""nn.GELU: v2 differs in value between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_activation.py::test_module_of_special_values[name='GELU'], trial 1 of base seed 0.
paddle: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

def in_torch():
    import torch
    m0 = torch.nn.GELU()
    x0 = torch.tensor(np.array(3.4028235e+38, "float32"))
    v2 = m0(x0)
    return v2.tolist()

def in_paddle():
    import paddle
    m0 = paddle.nn.GELU()
    x0 = paddle.to_tensor(np.array(3.4028235e+38, "float32"))
    v2 = m0(x0)
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
