"""nn.RNNCell: oneflow raises where torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_recurrent.py::test_cell_without_a_state[name='RNNCell'], trial 0 of base seed 0.
oneflow: it refuses or lacks what torch accepts"""
import sys
import numpy as np

def program(torch):
    m0 = torch.nn.RNNCell(1, 0)
    with torch.no_grad():
        m0.weight_ih.copy_(torch.tensor(np.array(0.0, "float32")))
        m0.weight_hh.copy_(torch.tensor(np.array(0.0, "float32")))
        m0.bias_ih.copy_(torch.tensor(np.array(0.0, "float32")))
        m0.bias_hh.copy_(torch.tensor(np.array(0.0, "float32")))
    x0 = torch.tensor(np.array([0.0], "float32"))
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
