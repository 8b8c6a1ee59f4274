"""nn.AdaptiveAvgPool3d: paddle raises where torch does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, paddle 3.3.1; test_pooling.py::test_without_a_batch[kind='AdaptiveAvgPool', rank=3], trial 0 of base seed 0.
paddle: it refuses or lacks what torch accepts"""
import json, sys
import numpy as np

def in_torch():
    import torch
    m0 = torch.nn.AdaptiveAvgPool3d(1)
    x0 = torch.tensor(np.array([[[0.0]]], "float32"))
    v2 = m0(x0)
    return v2

def in_paddle():
    import paddle
    m0 = paddle.nn.AdaptiveAvgPool3d(1)
    x0 = paddle.to_tensor(np.array([[[0.0]]], "float32"))
    t2 = m0(x0)
    return t2

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
