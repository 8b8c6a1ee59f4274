"""truediv: paddle raises where torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_elementwise.py::TestArithmetic.test_arithmetic_of_mixed_dtypes, trial 0 of base seed 0.
paddle: it refuses or lacks what torch accepts"""
import sys
import numpy as np

X0 = np.array([[6.744523642455686, 6.946147143817197, 3.942889971368522], [4.279659189288636,
    6.502628209322255, 7.852799407899221]], "float64")
X2 = np.array([[26.978094569822744, 6.946147143817197, 15.771559885474089], [21.39829594644318,
    39.015769255933535, 62.82239526319377]], "float64")
X3 = np.array([[2.744523642455686, 5.946147143817197, -0.05711002863147785], [-0.720340810711364,
    0.5026282093222552, -0.14720059210077885]], "float64")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    x1 = torch.tensor(np.array([[4, 1, 4], [5, 6, 8]], "int64"))
    torch.tensor(X2)  # as the reference computes it
    torch.tensor(X3)  # as the reference computes it
    v4 = x0 / x1
    return v4

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[6.744523642455686, 6.946147143817197, 3.942889971368522], [4.279659189288636, 6.502628209322255, 7.852799407899221]], "float64"))
    x1 = paddle.to_tensor(np.array([[4, 1, 4], [5, 6, 8]], "int64"))
    x2 = paddle.to_tensor(np.array([[26.978094569822744, 6.946147143817197, 15.771559885474089], [21.39829594644318, 39.015769255933535, 62.82239526319377]], "float64"))
    x3 = paddle.to_tensor(np.array([[2.744523642455686, 5.946147143817197, -0.05711002863147785], [-0.720340810711364, 0.5026282093222552, -0.14720059210077885]], "float64"))
    t4 = x0 / x1
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
