"""bmm: oneflow crashes, torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_edges.py::test_without_elements[name='bmm of no rows'], trial 0 of base seed 1.
oneflow: crash, where torch returns"""
import contextlib, os, subprocess, sys
import numpy as np

X1 = np.array([[[1.7079664, 1.7719661, -1.8260465, 1.201234], [-1.3822908, -1.5286179, 0.71510255,
    -1.3226581], [1.0831, 1.764352, -1.8828981, 0.96272147]], [[1.5223507, 0.754547, 1.5314349,
    -0.9455567], [1.2956933, -0.32709247, 1.2905656, 0.30731547], [-1.9854021, -0.090646565,
    -0.6368063, -0.5681346]]], "float32")

def program(torch):
    x0 = torch.tensor(np.zeros((2, 0, 3), "float32"), requires_grad=True)
    x1 = torch.tensor(X1, requires_grad=True)
    return torch.bmm(x0, x1)

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
