"""nn.Conv1d: v4 differs in value between torch and mlx. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, mlx 0.32.4; test_convolution.py::TestConvolution.test_in_double_precision, trial 0 of base seed 0.
mlx: NumPy gives -0.102193964 at (0, 0), as torch does"""
import sys
import numpy as np

def in_torch():
    import torch
    m0 = torch.nn.Conv1d(1, 1, (1,))
    m0.double()
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.array(0.3042745292186737, "float64")))
        m0.bias.copy_(torch.tensor(np.array(-0.38548797369003296, "float64")))
    x0 = torch.tensor(np.array([[0.9310474002153936]], "float64"))
    v4 = m0(x0)
    return v4.tolist()

def in_mx():
    import mlx.core as mx
    t5 = mx.broadcast_to(mx.array(np.array(0.3042745292186737, "float64"), mx.float64), (1, 1, 1))
    t7 = mx.broadcast_to(mx.array(np.array(-0.38548797369003296, "float64"), mx.float64), (1,))
    x0 = mx.array(np.array([[0.9310474002153936]], "float64"), mx.float64)
    t10 = mx.transpose(mx.expand_dims(x0, 0), (0, 2, 1))
    t13 = mx.transpose(mx.conv1d(t10, mx.transpose(t5, (0, 2, 1)), 1, 0, 1, 1), (0, 2, 1))
    v4 = mx.squeeze(t13 + t7.reshape((1, -1, 1)), 0)
    return v4.tolist()

try:
    expected = in_torch()
    actual = in_mx()
    same = np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-07, 1e-10, equal_nan=True)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if same:
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, mlx {actual}".split())[:1000])
sys.exit(1)
