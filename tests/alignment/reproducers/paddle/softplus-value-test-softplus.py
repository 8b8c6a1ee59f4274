"""nn.Softplus: v4 differs in value between torch and paddle. Exits 1 while that is so, 0 when it is gone, 2 when it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_activation.py::TestWithParameters.test_softplus, trial 13 of base seed 0.
paddle: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([[-8.988274]], "float32"))
    v1 = x0.transpose(0, 1)  # layout
    v2 = v1.requires_grad_()  # layout
    m3 = torch.nn.Softplus(beta=2, threshold=7)
    v4 = m3(v2)
    v4.backward(torch.tensor(np.array([[-0.96708286]], "float32")))
    return v4.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[-8.988274]], "float32"))
    v1 = x0.transpose(0, 1)
    v2 = v1.requires_grad_()
    m3 = paddle.nn.Softplus(beta=2, threshold=7)
    v4 = m3(v2)
    c5 = paddle.to_tensor(np.array([[-0.96708286]], "float32"))
    v4.backward(c5)
    return v4.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 7.795692980039348e-12, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
