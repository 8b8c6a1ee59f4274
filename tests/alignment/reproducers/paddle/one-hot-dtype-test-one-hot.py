"""nn.functional.one_hot: v1 differs in dtype between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_embedding.py::TestEmbedding.test_one_hot, trial 0 of base seed 0.
torch is the specification: paddle differs in dtype; nobody else has an opinion"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array(0, "int64"))
    v1 = torch.nn.functional.one_hot(x0)
    return str(v1.dtype).split(".")[-1]

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array(0, "int64"))
    v1 = paddle.nn.functional.one_hot(x0)
    return str(v1.dtype).split(".")[-1]

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if expected == actual:
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
