"""ne: v2 differs in value between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_elementwise.py::test_relations[name='ne'], trial 8 of base seed 0.
paddle: NumPy gives 1 at (0, 4), as torch does"""
import sys
import numpy as np

X0 = np.array([[-1.5, -1.5, 1.5, 0.5, 1.5], [-1.5, -1.0, 1.5, -1.0, -1.5], [-0.5, 1.0, 1.0, 0.0,
    -1.0], [-2.0, 0.5, 1.5, -1.5, 1.5], [0.5, -1.0, -2.0, -1.0, -0.5]], "float64")
X1 = np.array([[-1.0, 0.5, 1.5, -1.5, 1.5000000000000002]], "float64")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    v2 = torch.ne(x0, x1)
    return v2.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[-1.5, -1.5, 1.5, 0.5, 1.5], [-1.5, -1.0, 1.5, -1.0, -1.5], [-0.5, 1.0, 1.0, 0.0, -1.0], [-2.0, 0.5, 1.5, -1.5, 1.5], [0.5, -1.0, -2.0, -1.0, -0.5]], "float64"))
    x1 = paddle.to_tensor(np.array([[-1.0, 0.5, 1.5, -1.5, 1.5000000000000002]], "float64"))
    v2 = paddle.ne(x0, x1)
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.array_equal(expected, actual):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
