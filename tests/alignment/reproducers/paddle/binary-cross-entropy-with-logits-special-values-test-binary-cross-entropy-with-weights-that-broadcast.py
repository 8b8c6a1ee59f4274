"""nn.functional.binary_cross_entropy_with_logits: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_loss.py::TestClassification.test_binary_cross_entropy_with_weights_that_broadcast, trial 2 of base seed 0.
paddle: difference of its own forward gives 0.5 at (), as torch does"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array(-0.0, "float32"), requires_grad=True)
    x1 = torch.tensor(np.array(0.0, "float32"))
    v2 = torch.nn.functional.binary_cross_entropy_with_logits(x0, x1)
    v2.backward(torch.tensor(np.array(1.0, "float32")))
    return x0.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array(-0.0, "float32")).requires_grad_()
    x1 = paddle.to_tensor(np.array(0.0, "float32"))
    v2 = paddle.nn.functional.binary_cross_entropy_with_logits(x0, x1)
    c3 = paddle.to_tensor(np.array(1.0, "float32"))
    v2.backward(c3)
    t5 = x0.grad.detach()
    return t5.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
