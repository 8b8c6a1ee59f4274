"""optim.RMSprop: m0.bias differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_optimizer.py::TestOptimizers.test_rmsprop, trial 0 of base seed 0.
inconclusive: the two sides differ in double precision too, and no third opinion decides between them"""
import sys
import numpy as np

def program(torch):
    m0 = torch.nn.Linear(1, 1)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.array(0.0, "float32")))
        m0.bias.copy_(torch.tensor(np.array(0.0, "float32")))
    m2 = torch.nn.Sequential(m0)
    v3 = m2.parameters()
    o4 = torch.optim.RMSprop(v3)
    x0 = torch.tensor(np.array([0.0], "float32"))
    v6 = m2(x0)
    v6.backward()
    o4.step()
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
