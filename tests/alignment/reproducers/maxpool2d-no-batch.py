"""nn.MaxPool2d: oneflow crashes, torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_pooling.py::test_without_a_batch[kind='MaxPool', rank=2], trial 0 of base seed 1.
oneflow: crash, where torch returns"""
import contextlib, os, subprocess, sys
import numpy as np

X0 = np.array([[[0.020763814, 0.5068589, -0.21664539, -0.88732564, -0.6048044, 0.522463],
    [-0.1894373, -0.102065235, 0.259304, 0.9983582, 0.6979031, 0.5247292], [0.3880549, -0.6715505,
    -0.22791746, 0.80425996, -0.97572994, 0.7746561], [0.27028757, 0.11392373, -0.45190766,
    -0.3786719, 0.7390347, -0.9756868], [0.43780905, 0.10939878, -0.41728225, 0.4062211, 0.44974846,
    -0.98964155], [-0.35143164, 0.050479114, -0.24532822, -0.18408611, -0.8695427, 0.2914899]]],
    "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    m1 = torch.nn.MaxPool2d(2)
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
