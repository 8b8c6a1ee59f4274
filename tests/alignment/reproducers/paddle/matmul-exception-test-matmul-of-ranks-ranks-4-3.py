"""matmul: paddle raises where torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_matmul.py::test_matmul_of_ranks[ranks=(4, 3)], trial 0 of base seed 0.
paddle: it refuses or lacks what torch accepts"""
import sys
import numpy as np

X0 = np.array([[[[113.0, -0.8052393, 113.0, 0.7035037, 113.0, 0.49119902, 113.0], [113.0, 0.6592175,
    113.0, -0.46106088, 113.0, -0.0811578, 113.0]]], [[[113.0, -0.19798219, 113.0, 0.00566566,
    113.0, 0.64564407, 113.0], [113.0, -0.29915464, 113.0, 0.48296332, 113.0, 0.022849798,
    113.0]]]], "float32")
X1 = np.array([[[113.0, -0.82621336, 113.0, 0.6355028, 113.0], [113.0, 0.3594848, 113.0, 0.81010365,
    113.0], [113.0, 0.591578, 113.0, -0.43453145, 113.0]]], "float32")
C7 = np.array([[[[-0.72636294, -0.84560466], [0.14503157, 0.6544038]]], [[[0.59496605, 0.4532256],
    [0.6014397, 0.059578896]]]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = x0[:, :, :, 1:7:2]  # layout
    v2 = v1.requires_grad_()  # layout
    x1 = torch.tensor(X1)
    v4 = x1[:, :, 1:5:2]  # layout
    v5 = v4.requires_grad_()  # layout
    v6 = torch.matmul(v2, v5)
    v8 = v6.backward(torch.tensor(C7))
    return v8

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[[[113.0, -0.8052393, 113.0, 0.7035037, 113.0, 0.49119902, 113.0], [113.0, 0.6592175, 113.0, -0.46106088, 113.0, -0.0811578, 113.0]]], [[[113.0, -0.19798219, 113.0, 0.00566566, 113.0, 0.64564407, 113.0], [113.0, -0.29915464, 113.0, 0.48296332, 113.0, 0.022849798, 113.0]]]], "float32"))
    v1 = x0[:, :, :, 1:7:2]
    v2 = v1.requires_grad_()
    x1 = paddle.to_tensor(np.array([[[113.0, -0.82621336, 113.0, 0.6355028, 113.0], [113.0, 0.3594848, 113.0, 0.81010365, 113.0], [113.0, 0.591578, 113.0, -0.43453145, 113.0]]], "float32"))
    v4 = x1[:, :, 1:5:2]
    v5 = v4.requires_grad_()
    v6 = paddle.matmul(v2, v5)
    c7 = paddle.to_tensor(np.array([[[[-0.72636294, -0.84560466], [0.14503157, 0.6544038]]], [[[0.59496605, 0.4532256], [0.6014397, 0.059578896]]]], "float32"))
    t8 = v6.backward(c7)
    return t8

try:
    in_torch()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    in_paddle()
    print("same")
except ImportError as error:
    sys.exit(print("cannot tell:", error) or 2)
except Exception as error:
    print(*f"DIFFERS: torch returns, paddle raises {type(error).__name__}: {error}".split())
    sys.exit(1)
