"""nn.functional.layer_norm: x1.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, paddle 3.3.1; test_normalisation.py::TestNormalisation.test_functional_layer_norm_without_bias, trial 0 of base seed 0.
paddle: finite difference of its own forward gives 158.113685 at (0, 0), as torch does"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([1.0, 0.0], "float32"))
    x1 = torch.tensor(np.array([[0.0, 0.0]], "float32"), requires_grad=True)
    v2 = torch.nn.functional.layer_norm(x1, (2,), x0)
    v2.backward(torch.tensor(np.array([[1.0, 1.0]], "float32")))
    return x1.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([1.0, 0.0], "float32"))
    x1 = paddle.to_tensor(np.array([[0.0, 0.0]], "float32")).requires_grad_()
    v2 = paddle.nn.functional.layer_norm(x1, (2,), x0)
    c3 = paddle.to_tensor(np.array([[1.0, 1.0]], "float32"))
    v2.backward(c3)
    t5 = x1.grad.detach()
    return t5.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
    same = np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if same:
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
