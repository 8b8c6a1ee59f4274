"""nn.BatchNorm1d: x0.grad differs in gradient between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_normalisation.py::TestNormalisation.test_of_equal_numbers, trial 0 of base seed 0.
torch is the specification: oneflow differs in gradient, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[1.0345991, 1.9540277, 1.7263436], [1.0345991, 1.9540277, 1.7263436], [1.0345991,
    1.9540277, 1.7263436], [1.0345991, 1.9540277, 1.7263436], [1.0345991, 1.9540277, 1.7263436]],
    "float32")
C5 = np.array([[0.3044039, -0.8213531, 0.062042117], [-0.9299805, 0.0015300512, -0.02563858],
    [0.5734097, 0.096707106, -0.15457499], [-0.41551507, 0.46301627, 0.8481382], [-0.89660203,
    0.47207105, -0.040264726]], "float32")

def program(torch):
    m0 = torch.nn.BatchNorm1d(3, affine=False)
    with torch.no_grad():
        m0.running_mean.copy_(torch.tensor(np.array([0.0, 0.0, 0.0], "float32")))
        m0.running_var.copy_(torch.tensor(np.array([1.0, 1.0, 1.0], "float32")))
        m0.num_batches_tracked.copy_(torch.tensor(np.array(0, "int64")))
    x0 = torch.tensor(X0, requires_grad=True)
    with torch.no_grad():
        m0.running_mean.copy_(torch.tensor(np.array([0.0, 0.0, 0.0], "float32")))
        m0.running_var.copy_(torch.tensor(np.array([1.0, 1.0, 1.0], "float32")))
        m0.num_batches_tracked.copy_(torch.tensor(np.array(0, "int64")))
    v4 = m0(x0)
    v4.backward(torch.tensor(C5))
    return x0.grad

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
if expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(*f"DIFFERS: torch gives {expected}, oneflow {actual}".split())
sys.exit(1)
