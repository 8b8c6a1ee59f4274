"""scatter: paddle raises where torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, paddle 3.3.1; test_edges.py::test_single_numbers[name='scatter'], trial 0 of base seed 0.
paddle: it refuses or lacks what torch accepts"""
import json, sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array(0.0, "float32"))
    v1 = torch.tensor(0)
    x1 = torch.tensor(np.array(0.0, "float32"))
    v3 = torch.scatter(x0, 0, v1, x1)
    return v3

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array(0.0, "float32"))
    v1 = paddle.to_tensor(0)
    x1 = paddle.to_tensor(np.array(0.0, "float32"))
    t3 = paddle.scatter(x0, 0, v1, x1)
    return t3

def read(value):
    if isinstance(value, complex):
        return {"parts": [value.real, value.imag]}
    return value.tolist() if hasattr(value, "tolist") else str(value)

try:
    in_torch()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    json.dumps(in_paddle(), default=read)
    print("same")
except ImportError as error:
    sys.exit(print("cannot tell:", error) or 2)
except Exception as error:
    print(*f"DIFFERS: torch returns, paddle raises {type(error).__name__}: {error}".split())
    sys.exit(1)
