"""nn.PairwiseDistance: v3 differs in value between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_loss.py::TestDistances.test_pairwise_distance, trial 7 of base seed 0.
paddle: torch._refs.nn.functional.pairwise_distance gives 1e-06, as torch does"""
import sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array(0.0, "float64"))
    x1 = torch.tensor(np.array(0.0, "float64"))
    m2 = torch.nn.PairwiseDistance(p=3.0)
    v3 = m2(x0, x1)
    return v3.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array(0.0, "float64"))
    x1 = paddle.to_tensor(np.array(0.0, "float64"))
    m2 = paddle.nn.PairwiseDistance(p=3.0)
    v3 = m2(x0, x1)
    return v3.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-09, 1.0000000000000008e-14, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
