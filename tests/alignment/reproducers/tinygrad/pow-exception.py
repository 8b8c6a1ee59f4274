"""pow: tinygrad raises where torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, tinygrad 0.14.0; test_elementwise.py::test_arithmetic_of_special_values[name='pow'], trial 0 of base seed 1.
tinygrad: it refuses or lacks what torch accepts"""
import json, sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([0.0], "float32"))
    x1 = torch.tensor(np.array([np.nan], "float32"))
    v2 = torch.pow(x0, x1)
    return v2

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([0.0], "float32"))
    x1 = tinygrad.Tensor(np.array([np.nan], "float32"))
    t2 = x0.pow(x1)
    return t2

def read(value):
    return value.tolist() if hasattr(value, "tolist") else str(value)

try:
    in_torch()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    json.dumps(in_tinygrad(), default=read)
    print("same")
except ImportError as error:
    sys.exit(print("cannot tell:", error) or 2)
except Exception as error:
    print(*f"DIFFERS: torch returns, tinygrad raises {type(error).__name__}: {error}".split())
    sys.exit(1)
