"""nn.Conv2d: v3 differs in shape between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_convolution.py::TestConvolution.test_padding_by_name, trial 0 of base seed 0.
semantic difference: in shape; no third opinion on which side is right"""
import sys
import numpy as np

X0 = np.array([[[[-0.8638419, -0.99383545], [-0.11160591, 0.43038863]], [[0.19348818, 0.74419147],
    [0.1333794, 0.36578673]]]], "float32")

def program(torch):
    m0 = torch.nn.Conv2d(2, 2, 2, padding="same")
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.array([[[0.2814891]]], "float32")))
        m0.bias.copy_(torch.tensor(np.array([0.34949794], "float32")))
    x0 = torch.tensor(X0)
    return m0(x0)

try:
    import torch
    import oneflow
    expected = tuple(program(torch).shape)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = tuple(program(oneflow).shape)
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(expected != actual)
