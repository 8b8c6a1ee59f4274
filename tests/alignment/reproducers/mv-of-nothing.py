"""mv: oneflow crashes, torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_edges.py::test_without_elements[name='mv'], trial 0 of base seed 1.
oneflow: crash, where torch returns"""
import contextlib, os, subprocess, sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.zeros((0, 3), "float32"), requires_grad=True)
    x1 = torch.tensor(np.array([0.6714386, 1.0927259, 1.8255395], "float32"), requires_grad=True)
    return torch.mv(x0, x1)

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
