"""optim.SGD: m0.bias differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_optimizer.py::TestOptimizers.test_sgd_upwards_without_momentum, trial 0 of base seed 0.
torch is the specification: oneflow differs in value, also in float64; no independent oracle can decide"""
import sys
import numpy as np

def program(torch):
    m0 = torch.nn.Linear(1, 1)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.array(0.0, "float32")))
        m0.bias.copy_(torch.tensor(np.array(0.0, "float32")))
    v1 = m0.parameters()
    o2 = torch.optim.SGD(v1, lr=1.0, maximize=True)
    x0 = torch.tensor(np.array([1.0], "float32"))
    v4 = m0(x0)
    v4.backward()
    o2.step()
    return m0.bias

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)))
