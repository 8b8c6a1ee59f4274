"""mul: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, paddle 3.3.1; test_elementwise.py::TestInPlace.test_in_place_calls_are_seen_through_views, trial 0 of base seed 0.
paddle: finite difference of its own forward gives 0 at (0,), as torch does"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([0.0], "float32"), requires_grad=True)
    v1 = x0 * 1
    v2 = v1[0]
    with torch.no_grad():  # as the reference computes it
        v2.copy_(torch.tensor(np.array(-1.0, "float32")))
    v1.clamp_(0)
    torch.autograd.backward(
        [v1, v2],
        [torch.tensor(np.array([-1.0], "float32")), torch.tensor(np.array(-1.0, "float32"))],
    )
    return x0.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([0.0], "float32")).requires_grad_()
    v1 = x0 * 1
    v2 = v1[0]
    v2.set_value(np.array(-1.0, "float32"))
    v4 = v1.clamp_(0)
    c5 = paddle.to_tensor(np.array([-1.0], "float32"))
    c6 = paddle.to_tensor(np.array(-1.0, "float32"))
    paddle.autograd.backward([v1, v2], [c5, c6])
    t7 = x0.grad.detach()
    return t7.tolist()

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
