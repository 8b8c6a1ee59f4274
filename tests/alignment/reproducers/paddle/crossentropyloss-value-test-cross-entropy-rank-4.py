"""nn.CrossEntropyLoss: v4 differs in value between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_loss.py::test_cross_entropy[rank=4], trial 3 of base seed 0.
paddle: NumPy gives 0.957258698, as torch does"""
import sys
import numpy as np

X0 = np.array([[[[-0.29275322, 0.4831215], [-1.9881002, -2.5625777]], [[-1.3208499, -0.2988],
    [1.168937, -2.6842928]]]], "float32")
X1 = np.array([[[113, 0, 113, 1, 113], [113, 0, 113, 1, 113]]], "int64")

def in_torch():
    import torch
    x0 = torch.tensor(X0, requires_grad=True)
    x1 = torch.tensor(X1)
    v2 = x1[:, :, 1:5:2]  # layout
    m3 = torch.nn.CrossEntropyLoss(ignore_index=0)
    v4 = m3(x0, v2)
    v4.backward(torch.tensor(np.array(-0.5708289, "float32")))
    return v4.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[[[-0.29275322, 0.4831215], [-1.9881002, -2.5625777]], [[-1.3208499, -0.2988], [1.168937, -2.6842928]]]], "float32")).requires_grad_()
    x1 = paddle.to_tensor(np.array([[[113, 0, 113, 1, 113], [113, 0, 113, 1, 113]]], "int64"))
    v2 = x1[:, :, 1:5:2]
    m3 = paddle.nn.CrossEntropyLoss(ignore_index=0)
    v4 = m3(x0, v2)
    c5 = paddle.to_tensor(np.array(-0.5708289, "float32"))
    v4.backward(c5)
    return v4.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
