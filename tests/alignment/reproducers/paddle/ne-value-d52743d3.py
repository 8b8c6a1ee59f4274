"""ne: v2 differs in value between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, paddle 3.3.1; test_elementwise.py::test_relations_of_special_values[name='ne'], trial 0 of base seed 2.
paddle: NumPy gives 1, as torch does"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array(-0.0, "float32"))
    x1 = torch.tensor(np.array(1.1754944e-38, "float32"))
    v2 = torch.ne(x0, x1)
    return v2.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array(-0.0, "float32"))
    x1 = paddle.to_tensor(np.array(1.1754944e-38, "float32"))
    v2 = paddle.ne(x0, x1)
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
    same = np.shape(expected) == np.shape(actual) and np.array_equal(expected, actual)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if same:
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
