"""nn.ConvTranspose1d: oneflow accepts what torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_convolution.py::test_transposed_convolution[rank=1], trial 136 of base seed 3187269878.
oneflow: it accepts what torch refuses"""
import sys
import numpy as np

def program(torch):
    m0 = torch.nn.ConvTranspose1d(in_channels=4, out_channels=2, kernel_size=1, stride=2, groups=2)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.array(0.0, "float32")))
        m0.bias.copy_(torch.tensor(np.array(0.0, "float32")))
    x0 = torch.tensor(np.array([[[0.0], [0.0], [0.0], [0.0]]], "float32"))
    return m0(x0)

def run(framework):
    result = program(framework)
    return result.tolist() if hasattr(result, "tolist") else result

try:
    import torch
    import oneflow
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    run(torch)
    sys.exit(print("cannot tell: torch accepts it, too") or 2)
except Exception as error:
    refusal = f"torch raises {type(error).__name__}: {error}"
try:
    result = run(oneflow)
except Exception:
    sys.exit(print("same"))
print(*f"DIFFERS: {refusal}, oneflow returns {result}".split())
sys.exit(1)
