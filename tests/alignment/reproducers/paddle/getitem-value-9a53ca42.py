"""getitem: x0 differs in value between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, paddle 3.3.1; test_indexing.py::TestWriting.test_assignment_through_an_expanded_view, trial 2 of base seed 0.
torch is the specification: paddle differs in value, also in float64; no independent oracle can decide"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array(1.0, "float32"))
    v1 = x0.expand((1, 1))  # layout
    v2 = v1[0]
    v2[0:] = 0
    return x0.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array(1.0, "float32"))
    v1 = x0.expand((1, 1))
    v2 = v1[0]
    v2[0:] = 0
    return x0.tolist()

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
