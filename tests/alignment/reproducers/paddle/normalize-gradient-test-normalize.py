"""nn.functional.normalize: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_normalisation.py::TestNormalisation.test_normalize, trial 7 of base seed 0.
paddle: difference of its own forward gives 0 at (0, 0), as torch does"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([[1.0]], "float64"), requires_grad=True)
    v1 = torch.nn.functional.normalize(x0)
    v1.backward(torch.tensor(np.array([[1.0]], "float64")))
    return x0.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[1.0]], "float64")).requires_grad_()
    v1 = paddle.nn.functional.normalize(x0)
    c2 = paddle.to_tensor(np.array([[1.0]], "float64"))
    v1.backward(c2)
    t4 = x0.grad.detach()
    return t4.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-09, 1.000088900582341e-20, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
