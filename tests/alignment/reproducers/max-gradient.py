"""max: x0.grad differs in gradient between torch and oneflow. Exits 1 while that is so, 0 when it is gone, 2 when it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_reduction.py::test_extremes_with_their_places[name='max'], trial 3 of base seed 0.
semantic difference: a kink, where more than one gradient is right"""
import sys
import numpy as np

X0 = np.array([[[1.9999999, 1.9999999, 0.3055147, -0.84037334, -0.6250699, -2.0], [-1.1629739,
    1.9999999, -1.9509773, 1.9999999, 0.26871502, 1.4353229]], [[-0.046045125, -2.0, 0.12576783,
    0.33486593, -1.639879, -1.4081945], [-1.6491573, -0.96895987, 1.1163989, -1.314338, -1.398598,
    1.4002599]], [[1.9999999, 0.7803117, 0.015984893, -1.6295307, -0.3176735, 1.9999999],
    [-1.553021, -0.46355516, -0.4115401, -1.2602582, 0.24253309, 1.9999999]]], "float32")
C3 = np.array([[0.14856267, 0.99371374], [-0.26148856, -0.8085042], [-0.15151548, -0.27956212]],
    "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.max(x0, dim=-1, keepdim=False)
    v2 = v1[0]
    v2.backward(torch.tensor(C3))
    return x0.grad

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)))
