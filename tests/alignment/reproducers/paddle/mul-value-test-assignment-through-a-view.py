"""mul: x0 differs in value between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_indexing.py::TestWriting.test_assignment_through_a_view, trial 8 of base seed 0.
torch is the specification: paddle differs in value, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([[-0.0, 0.0, 0.0, 0.0, -0.0, 0.0]], "float32"))
    v1 = x0.expand((5, 6))  # layout
    v2 = v1[2]
    v2.clone()  # kept before it is overwritten
    v2[1:] = 9
    v1 * 2
    return x0.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[-0.0, 0.0, 0.0, 0.0, -0.0, 0.0]], "float32"))
    v1 = x0.expand((5, 6))
    v2 = v1[2]
    v3 = v2.clone()
    v2[1:] = 9
    v5 = v1 * 2
    return x0.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
