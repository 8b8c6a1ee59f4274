"""nn.AvgPool1d: oneflow crashes, torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_pooling.py::test_without_a_batch[kind='AvgPool', rank=1], trial 0 of base seed 1.
oneflow: crash, where torch returns"""
import contextlib, os, subprocess, sys
import numpy as np

X0 = np.array([[0.33110994, 0.79602367, -0.8051425, -0.5255015, 0.62024575, -0.7258172],
    [-0.27176204, 0.38327235, 0.113953054, 0.8051447, 0.40099257, 0.55375725], [0.62638813,
    0.562828, 0.40995914, 0.4399808, -0.12622586, -0.2468498]], "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    m1 = torch.nn.AvgPool1d(1)
    return m1(x0)

try:
    import torch
    import oneflow
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
side = oneflow if sys.argv[1:] else torch
with contextlib.suppress(Exception):  # an exception is not a crash
    program(side).tolist()
if sys.argv[1:]:
    os._exit(0)
status = subprocess.run([sys.executable, __file__, "child"], timeout=60).returncode
print("oneflow ends with status", status, "(a negative one is the signal that killed it)")
sys.exit(status != 0)
