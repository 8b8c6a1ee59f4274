"""matmul: oneflow crashes, torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_matmul.py::test_matmul_of_ranks[ranks=(3, 1)], trial 0 of base seed 1.
oneflow: crash, where torch returns"""
import contextlib, os, subprocess, sys
import numpy as np

X0 = np.array([[[0.6580537, 0.073010504, 0.07159656, 0.4727462, 0.036920488]], [[0.63294834,
    -0.9513514, 0.048416555, 0.16976982, 0.27390116]], [[0.3566212, -0.574672, -0.48198846,
    -0.5173571, -0.7617742]]], "float32")
X1 = np.array([0.33787698, -0.4554576, 0.44164854, -0.8600656, -0.36079243], "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    x1 = torch.tensor(X1, requires_grad=True)
    return torch.matmul(x0, x1)

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
