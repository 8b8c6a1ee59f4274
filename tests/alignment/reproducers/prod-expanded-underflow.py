"""prod: v2 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_reduction.py::test_of_all_elements[name='prod'], trial 357 of base seed 3489475942.
torch: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X0 = np.array([[1.3820709], [1.466322], [0.6224107], [1.1579938], [0.785159], [0.51397085],
    [0.91316074], [0.6023079], [0.5190466], [0.96446115], [1.3328373], [0.50479895], [1.1473982],
    [0.8470574], [1.1029272], [1.1698166], [0.97526944], [0.5980204], [1.1183169], [1.3289778],
    [1.3888378], [0.7714175], [1.4120725], [1.1682427], [1.2944257], [1.1647716], [0.8587601],
    [1.3924191], [1.4003072], [1.0206192], [0.9343306], [0.8753586], [0.9418483], [1.3401543],
    [1.1411834], [1.4222854]], "float32")

def program(torch):
    x0 = torch.tensor(X0)
    v1 = x0.expand((36, 43))  # layout
    return torch.prod(v1)

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
