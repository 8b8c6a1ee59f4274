"""masked_select: v1.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_indexing.py::TestReading.test_mask, trial 6 of base seed 0.
torch is the specification: paddle differs in gradient, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[1.1319832, -0.63756186, -1.2578449, 1.0703086], [1.083851, -1.9663098, 1.0951732,
    -0.56146485], [0.07765806, 1.6819519, 1.3816892, -1.8656399]], "float32")
C7 = np.array([-0.27120423, -0.4417218, 0.6696968, 0.8095826, 0.496284, 0.62969935, 0.17556787],
    "float32")
C8 = np.array([-0.28782523, 0.88359916, 0.90325105, 0.5727055, -0.81433165, 0.8958125], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = x0.transpose(0, 1)  # layout
    v2 = v1.requires_grad_()  # layout
    v3 = v2 > 0
    v4 = v2[v3]
    v5 = v2 < 0.5
    v6 = torch.masked_select(v2, v5)
    torch.autograd.backward([v4, v6], [torch.tensor(C7), torch.tensor(C8)])
    return v1.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[1.1319832, -0.63756186, -1.2578449, 1.0703086], [1.083851, -1.9663098, 1.0951732, -0.56146485], [0.07765806, 1.6819519, 1.3816892, -1.8656399]], "float32"))
    v1 = x0.transpose(0, 1)
    v2 = v1.requires_grad_()
    v3 = v2 > 0
    v4 = v2[v3]
    v5 = v2 < 0.5
    v6 = paddle.masked_select(v2, v5)
    c7 = paddle.to_tensor(np.array([-0.27120423, -0.4417218, 0.6696968, 0.8095826, 0.496284, 0.62969935, 0.17556787], "float32"))
    c8 = paddle.to_tensor(np.array([-0.28782523, 0.88359916, 0.90325105, 0.5727055, -0.81433165, 0.8958125], "float32"))
    paddle.autograd.backward([v4, v6], [c7, c8])
    t9 = v1.grad.detach()
    return t9.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
