"""split: oneflow crashes, torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_edges.py::test_what_torch_refuses[name='split'], trial 0 of base seed 1.
oneflow: crash, where torch refuses"""
import contextlib, os, subprocess, sys
import numpy as np

X0 = np.array([[0.017954946, 0.022427201, -1.999938], [1.8168432, -1.9463601, 1.540613], [1.2178367,
    0.77127564, 1.1092283], [-1.7401655, -0.81312233, 1.6739126], [0.15906346, -1.6369052,
    0.075169444]], "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    return torch.split(x0, 0)

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
