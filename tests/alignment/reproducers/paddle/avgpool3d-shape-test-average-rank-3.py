"""nn.AvgPool3d: v2 differs in shape between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_pooling.py::test_average[rank=3], trial 2 of base seed 0.
torch is the specification: paddle differs in shape; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[[[[4.5753894, 1.1823901, -0.50673294], [3.443197, 1.3087409, 4.7065005]],
    [[-1.1754944e-38, 6.814097, 5.910773], [4.204079, 4.0386076, 1.0842022e-19]], [[4.199236,
    -0.45163777, 3.2858655], [3.4453995, 1.1754944e-38, -1.1754944e-38]]]], [[[[4.9735136,
    -1.1754944e-38, -0.8043184], [-0.0, 5.5833383, 4.574958]], [[3.03878, -0.0, 1.3906724],
    [0.6616902, -0.0, -0.0]], [[0.15393913, 1.1754944e-38, 1.0270388], [0.139471, -0.35851914,
    6.792101]]]]], "float32")

def in_torch():
    import torch
    m0 = torch.nn.AvgPool3d(kernel_size=2, padding=1, ceil_mode=True)
    x0 = torch.tensor(X0, requires_grad=True)
    v2 = m0(x0)
    return list(v2.shape)

def in_paddle():
    import paddle
    m0 = paddle.compat.nn.AvgPool3d(kernel_size=2, padding=1, ceil_mode=True)
    x0 = paddle.to_tensor(np.array([[[[[4.5753894, 1.1823901, -0.50673294], [3.443197, 1.3087409, 4.7065005]], [[-1.1754944e-38, 6.814097, 5.910773], [4.204079, 4.0386076, 1.0842022e-19]], [[4.199236, -0.45163777, 3.2858655], [3.4453995, 1.1754944e-38, -1.1754944e-38]]]], [[[[4.9735136, -1.1754944e-38, -0.8043184], [-0.0, 5.5833383, 4.574958]], [[3.03878, -0.0, 1.3906724], [0.6616902, -0.0, -0.0]], [[0.15393913, 1.1754944e-38, 1.0270388], [0.139471, -0.35851914, 6.792101]]]]], "float32")).requires_grad_()
    v2 = m0(x0)
    return list(v2.shape)

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if expected == actual:
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
