"""argmax: v1 differs in value between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_reduction.py::test_places_of_extremes_among_special_values[name='argmax'], trial 0 of base seed 0.
paddle: NumPy gives 0, as torch does"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([np.nan, 4.0], "float32"))
    v1 = torch.argmax(x0)
    return v1.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([np.nan, 4.0], "float32"))
    v1 = paddle.argmax(x0)
    return v1.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.array_equal(expected, actual):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
