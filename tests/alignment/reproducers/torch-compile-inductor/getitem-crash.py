"""getitem: torch.compile(backend='inductor') of torch+compile=inductor ends its process, where eager mode returns. Exits 1 while that is so, 0 when it is gone, 2 when it cannot tell.
torch 2.0.1+cu117, torch+compile=inductor 2.0.1+cu117; test_indexing.py::TestReading.test_negative_indices, trial 1 of base seed 0."""

import os
import subprocess
import sys

import numpy as np

try:
    import torch
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

X0 = np.array([[-1.1480305, 0.01788032, 0.60385907, -0.98112756, 1.6048673, 1.8273612], [0.03445351,
    1.7594558, -0.5311573, 1.2701663, -1.6025252, -1.4294121], [0.73341835, -1.910764, -0.29369503,
    0.7549881, 1.4440752, 0.93598306], [-0.2972656, -0.53857523, -0.5803018, 0.7955533, -1.0003068,
    -1.9032614], [0.2031964, 1.3791672, 0.51163113, -0.51828724, -0.44925624, 1.8929001],
    [0.31316984, 0.8388971, 1.3544599, -0.4222551, 1.7814065, 1.8313812]], "float32")
X1 = np.array([-5, 2, -6, -3], "int64")
C4 = np.array([[-0.36589873, -0.35427678, -0.56826055, -0.70512843, 0.21962905, 0.030590296],
    [-0.6841893, -0.08609772, 0.27390873, 0.018660665, 0.5488436, 0.9082273], [-0.328974,
    0.58894694, 0.97391474, -0.45992625, -0.09218693, -0.42752898], [-0.0617007, 0.119430065,
    0.2390747, -0.4704367, 0.85531414, 0.9647511]], "float32")
given_back = []  # which of its results the graph has at all


def before():
    """What stands outside of the graph."""
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    c4 = torch.tensor(C4)  # cotangent
    return (x0, x1, c4), ()


def forward(x0, x1, c4):
    """What the graph holds."""
    v3 = x0[x1]
    return (v3, c4)


def program(x0, x1, c4, forward=forward):
    """What eager mode and the graph do."""
    x0.requires_grad_()
    (v3, c4) = forward(x0, x1, c4)
    v3.backward(c4)
    return (v3,)


def gradients(x0, x1, c4):
    """What pushing back left."""
    return (x0.grad,)


class Replay:
    def __init__(self):
        self.compiled = torch.compile(forward, backend='inductor')

    def __call__(self, *given):
        results = [*program(*given, *modules, forward=self.compiled), *gradients(*given, *modules)]
        given_back[:] = [result is not None for result in results]
        return [result for result in results if result is not None]


def read(value):  # which waits for it
    return [read(one) for one in value] if isinstance(value, (tuple, list)) else getattr(value, "tolist", list)()


if __name__ == "__main__":
    graphed = bool(sys.argv[1:])
    for _ in range(1 if graphed else 1):
        try:
            tensors, modules = before()
            if graphed:
                read(Replay()(*tensors))
            else:
                read([*program(*tensors, *modules), *gradients(*tensors, *modules)])
        except Exception as error:  # raising is no dying
            if not graphed:
                sys.exit(print("cannot tell: eager mode raises", error) or 2)
    if graphed:
        os._exit(0)
    try:
        status = subprocess.run([sys.executable, __file__, "graph"], timeout=60).returncode
    except subprocess.TimeoutExpired:
        sys.exit(print("DIFFERS: torch.compile(backend='inductor') hangs: no answer in 60 s") or 1)
    died = f"DIFFERS: torch.compile(backend='inductor') ends with status {status} (a negative one is the signal that killed it)"
    print(died if status else "same")
    sys.exit(status != 0)
