"""nn.CrossEntropyLoss: v3 differs in value between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_loss.py::test_cross_entropy[rank=2], trial 16 of base seed 0.
paddle: NumPy gives nan, as torch does"""
import sys
import numpy as np

X0 = np.array([[1.330976112819724, -2.8612144552744, -2.9148833634537157, -2.9596019585574083],
    [-2.9937095646319607, -2.98641649818405, -0.8385439515823263, -0.58442773549705]], "float64")

def in_torch():
    import torch
    m0 = torch.nn.CrossEntropyLoss(ignore_index=0)
    x0 = torch.tensor(X0)
    x1 = torch.tensor(np.array([0, 0], "int64"))
    v3 = m0(x0, x1)
    return v3.tolist()

def in_paddle():
    import paddle
    m0 = paddle.nn.CrossEntropyLoss(ignore_index=0)
    x0 = paddle.to_tensor(np.array([[1.330976112819724, -2.8612144552744, -2.9148833634537157, -2.9596019585574083], [-2.9937095646319607, -2.98641649818405, -0.8385439515823263, -0.58442773549705]], "float64"))
    x1 = paddle.to_tensor(np.array([0, 0], "int64"))
    v3 = m0(x0, x1)
    return v3.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
