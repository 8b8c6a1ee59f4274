"""nn.Linear: v3 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_matmul.py::test_linear_of_a_vector[bias=False], trial 5 of base seed 0.
inconclusive: the two sides differ in double precision too, and no third opinion decides between them"""
import sys
import numpy as np

A0 = np.array([[-0.008787229, 0.5770529, -0.24672742], [0.107238546, -0.27089688, 0.3685083],
    [0.2684729, -0.047953214, -0.5450853]], "float32")

def program(torch):
    m0 = torch.nn.Linear(3, 3, bias=False)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(A0))
    x0 = torch.tensor(np.array([-0.9925238, -0.98075056, -0.9007783], "float32"))
    return m0(x0)

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)))
