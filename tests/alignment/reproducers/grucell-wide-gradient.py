"""nn.GRUCell: m0.weight_ih.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_recurrent.py::test_cell[name='GRUCell'], trial 92 of base seed 15838.
both: the errors of torch and oneflow against the float64 result are larger than rounding explains"""
import sys
import numpy as np

X0 = np.array([[-0.99953365, 0.5251538], [109.566025, -0.9995925]], "float32")

def program(torch):
    m0 = torch.nn.GRUCell(2, 2)
    with torch.no_grad():
        m0.weight_ih.copy_(torch.tensor(np.array([0.06803441, -0.23972023], "float32")))
        m0.weight_hh.copy_(torch.tensor(np.array([[0.027561069]], "float32")))
        m0.bias_ih.copy_(torch.tensor(np.array([-0.37306362], "float32")))
        m0.bias_hh.copy_(torch.tensor(np.array([0.35154474], "float32")))
    x0 = torch.tensor(X0, requires_grad=True)
    x1 = torch.tensor(np.array([[2.5, 3.5], [4.5, 109.566025]], "float32"), requires_grad=True)
    v4 = m0(x0, x1)
    v4.backward(torch.tensor(np.array([[1.0, 1.0], [1.0, 1.0]], "float32")))
    return m0.weight_ih.grad

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    actual = np.array(program(oneflow).tolist())
except Exception as error:
    sys.exit(print(*f"DIFFERS: oneflow raises {type(error).__name__}: {error}".split()) or 1)
if expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
sys.exit(print(*f"DIFFERS: torch gives {expected}, oneflow {actual}".split()) or 1)
