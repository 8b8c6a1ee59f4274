"""nn.Conv1d: oneflow crashes, torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_edges.py::test_what_torch_refuses[name='conv1d of another dtype'], trial 0 of base seed 0.
oneflow: crash, where torch refuses"""
import contextlib, os, signal, sys
import numpy as np

def program(torch):
    m0 = torch.nn.Conv1d(1, 1, 1)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.array(0.0, "float32")))
        m0.bias.copy_(torch.tensor(np.array(0.0, "float32")))
    x0 = torch.tensor(np.array([[[1.0]]], "float64"))
    return m0(x0)

def read(value):  # waits for asynchronous results
    return [read(one) for one in value] if isinstance(value, (tuple, list)) else getattr(value, "tolist", list)()

try:
    import torch
    import oneflow
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
child = os.fork()
signal.alarm(0 if child else 60)
with contextlib.suppress(Exception):  # an exception is not a crash
    read(program(torch if child else oneflow))
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if child else os._exit(0)
if status in (0, -signal.SIGALRM):
    sys.exit(print("cannot tell: no answer in 60 s") or 2 if status else print("same"))
print(f"DIFFERS: oneflow ends with status {status} (a negative one is the signal that killed it)")
sys.exit(1)
