"""prod: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_reduction.py::test_along_one_dimension[name='prod'], trial 7 of base seed 0.
paddle: difference of its own forward gives -0.369588954 at (5,), as torch does"""
import sys
import numpy as np

X0 = np.array([1.2147698660921564, -0.8575751286054835, -0.7386477537810375, -1.4126824072869408,
    0.44829278902126135, 0.0], "float64")

def in_torch():
    import torch
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.prod(x0, dim=-1, keepdim=False)
    v1.backward(torch.tensor(np.array(0.7584188600482941, "float64")))
    return x0.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([1.2147698660921564, -0.8575751286054835, -0.7386477537810375, -1.4126824072869408, 0.44829278902126135, 0.0], "float64")).requires_grad_()
    v1 = paddle.prod(x0, dim=-1, keepdim=False)
    c2 = paddle.to_tensor(np.array(0.7584188600482941, "float64"))
    v1.backward(c2)
    t4 = x0.grad.detach()
    return t4.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
