"""nn.ELU: v2 differs in value between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_activation.py::TestWithParameters.test_elu_and_celu, trial 7 of base seed 0.
paddle: NumPy gives -1.4736901 at (0, 3), as torch does"""
import sys
import numpy as np

X0 = np.array([[-1.2519620540819023, 0.0, 1.4073785238315637, -2.34497076406618,
    0.2584417830631873]], "float64")
C5 = np.array([[0.8340587157005611, 0.1825676961846322, -0.816416681256763, 0.9648236182257904,
    0.5777934816736748]], "float64")
C6 = np.array([[0.22745825837651423, -0.2096742336880722, -0.2712625022963407, 0.04969746249294238,
    -0.18212335693505782]], "float64")

def in_torch():
    import torch
    x0 = torch.tensor(X0, requires_grad=True)
    m1 = torch.nn.ELU(alpha=1.6299177233083655)
    v2 = m1(x0)
    m3 = torch.nn.CELU(alpha=1.6299177233083655)
    v4 = m3(x0)
    torch.autograd.backward([v2, v4], [torch.tensor(C5), torch.tensor(C6)])
    return v2.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[-1.2519620540819023, 0.0, 1.4073785238315637, -2.34497076406618, 0.2584417830631873]], "float64")).requires_grad_()
    m1 = paddle.nn.ELU(alpha=1.6299177233083655)
    v2 = m1(x0)
    m3 = paddle.nn.CELU(alpha=1.6299177233083655)
    v4 = m3(x0)
    c5 = paddle.to_tensor(np.array([[0.8340587157005611, 0.1825676961846322, -0.816416681256763, 0.9648236182257904, 0.5777934816736748]], "float64"))
    c6 = paddle.to_tensor(np.array([[0.22745825837651423, -0.2096742336880722, -0.2712625022963407, 0.04969746249294238, -0.18212335693505782]], "float64"))
    paddle.autograd.backward([v2, v4], [c5, c6])
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
