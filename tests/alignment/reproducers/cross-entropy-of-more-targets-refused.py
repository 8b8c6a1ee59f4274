"""nn.functional.cross_entropy: oneflow crashes, torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_edges.py::test_what_torch_refuses[name='cross_entropy of more targets'], trial 1 of base seed 1.
oneflow: crash, where torch refuses"""
import contextlib, os, subprocess, sys
import numpy as np

X0 = np.array([[1.3605202, 0.97045386, -1.8380446], [-1.7514088, -1.2860644, -1.4077129]],
    "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.tensor((1, 0, 2), dtype=torch.int64)
    return torch.nn.functional.cross_entropy(x0, v1)

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
