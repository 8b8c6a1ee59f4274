"""matmul: oneflow crashes, torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_matmul.py::test_matmul_of_ranks[ranks=(4, 1)], trial 0 of base seed 1.
oneflow: crash, where torch returns"""
import contextlib, os, subprocess, sys
import numpy as np

X0 = np.array([[[[0.41254848], [-0.3319936], [-0.5412427]], [[-0.30634382], [0.023601115],
    [0.27772492]], [[-0.39574924], [0.8206989], [-0.39318123]], [[-0.81904984], [0.89771575],
    [0.10568887]]], [[[0.92309994], [-0.7872455], [-0.46237984]], [[0.46071404], [-0.42562225],
    [0.20100492]], [[0.28658062], [-0.40324727], [-0.7031218]], [[-0.34554377], [-0.09548262],
    [0.73137945]]]], "float32")

def program(torch):
    x0 = torch.tensor(X0)
    v1 = x0.transpose(2, 3)
    v2 = v1.requires_grad_()
    x1 = torch.tensor(np.array([-0.7092807, -0.06948355, 0.8841221], "float32"), requires_grad=True)
    return torch.matmul(v2, x1)

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
