"""nn.ConvTranspose2d: oneflow raises where torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_convolution.py::test_transposed_convolution_to_nothing[rank=2], trial 0 of base seed 0.
oneflow: it refuses or lacks what torch accepts"""
import sys
import numpy as np

X0 = np.array([[[[-0.25743306, -0.16860259, -0.7104621, -0.89358425], [0.25157905, -0.042565584,
    0.97017074, -0.6041204], [0.9491222, 0.4090042, 0.67204225, 0.996317], [0.47636306, 0.12575138,
    -0.11358011, -0.7390088]]], [[[0.2525046, -0.7106724, -0.9504913, -0.19909489], [0.2712648,
    0.83521867, -0.59630597, 0.9793457], [-0.5883001, -0.17086816, -0.5544654, 0.28530288],
    [0.85313547, 0.16516685, -0.6492466, -0.5593102]]]], "float32")

def program(torch):
    m0 = torch.nn.ConvTranspose2d(1, 1, 1, padding=2, dilation=2, bias=False)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.array([[[[-0.1311456]]]], "float32")))
    x0 = torch.tensor(X0, requires_grad=True)
    return m0(x0)

def run(framework):
    result = program(framework)
    return result.tolist() if hasattr(result, "tolist") else result

try:
    import torch
    import oneflow
    run(torch)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    print("oneflow returns", run(oneflow))
except Exception as error:
    sys.exit(print("oneflow raises", error) or 1)
