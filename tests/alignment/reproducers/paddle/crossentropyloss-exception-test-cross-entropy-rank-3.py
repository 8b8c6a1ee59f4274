"""nn.CrossEntropyLoss: paddle raises where torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_loss.py::test_cross_entropy[rank=3], trial 0 of base seed 0.
paddle: it refuses or lacks what torch accepts"""
import sys
import numpy as np

X0 = np.array([[[0.85283506], [-1.3876605], [-0.023875356], [2.4818375]], [[-1.195529], [2.3137949],
    [0.83890617], [-2.6643114]], [[0.76238763], [-0.828792], [-2.443612], [0.5220343]]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0, requires_grad=True)
    x1 = torch.tensor(np.array([[0], [3], [3]], "int64"))
    m2 = torch.nn.CrossEntropyLoss(reduction="sum")
    v3 = m2(x0, x1)
    return v3

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[[0.85283506], [-1.3876605], [-0.023875356], [2.4818375]], [[-1.195529], [2.3137949], [0.83890617], [-2.6643114]], [[0.76238763], [-0.828792], [-2.443612], [0.5220343]]], "float32")).requires_grad_()
    x1 = paddle.to_tensor(np.array([[0], [3], [3]], "int64"))
    m2 = paddle.nn.CrossEntropyLoss(reduction="sum")
    t4 = m2(x0, x1)
    return t4

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
