"""setitem: oneflow crashes, torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_indexing.py::TestWriting.test_assignment_through_an_expanded_view, trial 0 of base seed 836584241.
oneflow: crash, where torch returns"""
import contextlib, os, subprocess, sys
import numpy as np

def program(torch):
    x0 = torch.from_numpy(np.array([0.0], "float32"))
    v1 = x0.expand((2,))  # layout
    v1[0:] = 0
    return v1

def read(value):  # waits for asynchronous results
    return [read(one) for one in value] if isinstance(value, (tuple, list)) else getattr(value, "tolist", list)()

try:
    import torch
    import oneflow
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
side = oneflow if sys.argv[1:] else torch
with contextlib.suppress(Exception):  # an exception is not a crash
    read(program(side))
if sys.argv[1:]:
    os._exit(0)
status = subprocess.run([sys.executable, __file__, "child"], timeout=60).returncode
if status == 0:
    sys.exit(print("same"))
print(f"DIFFERS: oneflow ends with status {status} (a negative one is the signal that killed it)")
sys.exit(1)
