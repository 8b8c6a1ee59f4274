"""nn.functional.cosine_similarity: x1.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_loss.py::TestDistances.test_cosine_similarity, trial 17 of base seed 0.
ill-conditioned: a roundoff of the inputs becomes 4503599627370496 of the result"""
import sys
import numpy as np

X1 = np.array([[0.45108380423065425], [0.4510838042306543], [0.45108380423065425]], "float64")

def in_torch():
    import torch
    x0 = torch.tensor(np.array([[1.0421735970936052]], "float64"))
    v1 = x0.expand((3, 1))  # layout
    v2 = v1.requires_grad_()  # layout
    x1 = torch.tensor(X1, requires_grad=True)
    v4 = torch.nn.functional.cosine_similarity(v2, x1, dim=0)
    v4.backward(torch.tensor(np.array([0.5703561947889143], "float64")))
    return x1.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[1.0421735970936052]], "float64"))
    v1 = x0.expand((3, 1))
    v2 = v1.requires_grad_()
    x1 = paddle.to_tensor(np.array([[0.45108380423065425], [0.4510838042306543], [0.45108380423065425]], "float64")).requires_grad_()
    v4 = paddle.nn.functional.cosine_similarity(v2, x1, dim=0)
    c5 = paddle.to_tensor(np.array([0.5703561947889143], "float64"))
    v4.backward(c5)
    t7 = x1.grad.detach()
    return t7.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-09, 5.551115123125783e-25, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
