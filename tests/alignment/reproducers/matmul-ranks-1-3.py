"""matmul: oneflow crashes, torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_matmul.py::test_matmul_of_ranks[ranks=(1, 3)], trial 0 of base seed 1.
oneflow: crash, where torch returns"""
import contextlib, os, subprocess, sys
import numpy as np

X1 = np.array([[[113.0], [113.0]], [[0.39307576], [0.108911574]], [[113.0], [113.0]]], "float32")

def program(torch):
    x0 = torch.tensor(np.array([113.0, 0.76540595, 0.8396819, 113.0], "float32"))
    v1 = x0[1:3:1,]
    v2 = v1.requires_grad_()
    x1 = torch.tensor(X1)
    v4 = x1[1:2:1,]
    v5 = v4.requires_grad_()
    return torch.matmul(v2, v5)

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
