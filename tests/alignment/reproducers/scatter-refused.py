"""scatter: oneflow crashes, torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_edges.py::test_what_torch_refuses[name='scatter'], trial 0 of base seed 1.
oneflow: crash, where torch refuses"""
import contextlib, os, subprocess, sys
import numpy as np

X0 = np.array([[1.828307, -0.8684917, -0.52752453, 0.05110991], [1.8158437, -1.2194595, 0.22905862,
    -1.815207], [-1.9226878, -0.8050993, 0.4085728, 1.4260455]], "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.tensor([[0, 8]])
    x1 = torch.tensor(np.array([[0.6407145, -1.9658098]], "float32"), requires_grad=True)
    return torch.scatter(x0, 1, v1, x1)

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
