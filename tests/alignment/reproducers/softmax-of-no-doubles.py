"""softmax: oneflow crashes, torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_edges.py::test_without_elements[name='softmax'], trial 6 of base seed 3187269878.
oneflow: crash; torch returns a result"""
import contextlib, os, signal, sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.zeros((0,), "float64"))
    return torch.softmax(x0, dim=0)

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
