"""nn.InstanceNorm3d: m0.running_mean differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_normalisation.py::test_running_statistics_of_instances[rank=3], trial 0 of base seed 0.
inconclusive: the two sides differ in double precision too, and no third opinion decides between them"""
import sys
import numpy as np

def program(torch):
    m0 = torch.nn.InstanceNorm3d(2, track_running_stats=True)
    with torch.no_grad():
        m0.running_mean.copy_(torch.tensor(np.array(0.0, "float32")))
        m0.running_var.copy_(torch.tensor(np.array(0.0, "float32")))
        m0.num_batches_tracked.copy_(torch.tensor(np.array(0, "int64")))
    x0 = torch.tensor(np.array([[[[[1.0, 0.0]]], [[[0.0, 0.0]]]]], "float32"))
    m0(x0)
    return m0.running_mean

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(not (expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True)))
