"""nn.Hardsigmoid: v2 differs in value between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_activation.py::test_module_of_special_values[name='Hardsigmoid'], trial 7 of base seed 0.
paddle: NumPy gives 0.666666667, as torch does"""
import sys
import numpy as np

def in_torch():
    import torch
    m0 = torch.nn.Hardsigmoid()
    x0 = torch.tensor(np.array(1.0, "float64"))
    v2 = m0(x0)
    return v2.tolist()

def in_paddle():
    import paddle
    m0 = paddle.nn.Hardsigmoid()
    x0 = paddle.to_tensor(np.array(1.0, "float64"))
    v2 = m0(x0)
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
