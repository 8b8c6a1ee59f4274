"""optim.SGD: m0.weight differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_optimizer.py::TestAroundOptimizers.test_parameter_groups, trial 6 of base seed 0.
torch is the specification: oneflow differs in value, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

A0 = np.array([[0.29186273, 0.084364116, -0.38264412], [-0.0030820065, 0.50263315, -0.43255314],
    [-0.2528799, -0.052648764, -0.24214447], [-0.12859951, -0.4613909, -0.4861696]], "float32")
A1 = np.array([0.1428744, 0.16751283, -0.3967524, -0.4504007], "float32")
A2 = np.array([[0.370297, -0.250404, -0.22965336, 0.39620703], [-0.37963486, 0.324279, -0.15877295,
    -0.005750537]], "float32")
X0 = np.array([[0.55962646, 6.73374], [np.inf, 3.9977353], [1.3067548, 6.8576646]], "float32")
X1 = np.array([[6.0394297, 2.0057523, 1.0487998], [-0.5584369, 6.3053885, np.inf]], "float32")
X2 = np.array([[1.2204659, -0.07434136, np.inf], [3.9452307, 6.9845905, 4.907441]], "float32")

def program(torch):
    m0 = torch.nn.Linear(3, 4)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(A0))
        m0.bias.copy_(torch.tensor(A1))
    m2 = torch.nn.Linear(4, 2)
    with torch.no_grad():
        m2.weight.copy_(torch.tensor(A2))
        m2.bias.copy_(torch.tensor(np.array([0.39843202, -0.27425802], "float32")))
    v4 = m0.parameters()
    v5 = list(v4)
    v6 = m2.parameters()
    v7 = list(v6)
    o8 = torch.optim.SGD([{"params": v5}, {"params": v7, "lr": 0.01}], lr=0.1, momentum=0.9)
    o8.zero_grad()
    x0 = torch.tensor(X0)
    v11 = x0.transpose(0, 1)  # layout
    v12 = v11.requires_grad_()  # layout
    v13 = m0(v12)
    v14 = m2(v13)
    v15 = v14.sum()
    v15.backward()
    o8.step()
    o8.zero_grad()
    x1 = torch.tensor(X1, requires_grad=True)
    v20 = m0(x1)
    v21 = m2(v20)
    v22 = v21.sum()
    v22.backward()
    o8.step()
    o8.zero_grad()
    x2 = torch.tensor(X2, requires_grad=True)
    v27 = m0(x2)
    v28 = m2(v27)
    v29 = v28.sum()
    v29.backward()
    o8.step()
    return m0.weight

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
