"""setitem: v1 differs in value between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, paddle 3.3.1; test_indexing.py::TestWriting.test_assignment_through_an_expanded_view, trial 2 of base seed 1.
torch is the specification: paddle differs in value, also in float64; no independent oracle can decide"""
import sys
import numpy as np

X0 = np.array([[-1.8105695, 1.0590035, -0.33449107, 1.791098, -1.1689084, -0.34268504]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = x0.expand((5, 6))  # layout
    v2 = v1[2]
    v2.clone()  # kept before it is overwritten
    v2[1:] = 9
    v1 * 2
    return v1.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[-1.8105695, 1.0590035, -0.33449107, 1.791098, -1.1689084, -0.34268504]], "float32"))
    v1 = x0.expand((5, 6))
    v2 = v1[2]
    v3 = v2.clone()
    v2[1:] = 9
    v5 = v1 * 2
    return v1.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
    same = np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if same:
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
