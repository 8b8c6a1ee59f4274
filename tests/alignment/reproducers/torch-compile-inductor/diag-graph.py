"""diag: torch.compile(backend='inductor') of torch+compile=inductor differs from its eager mode. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, torch+compile=inductor 2.0.1+cu117; test_matmul.py::TestLinearAlgebra.test_diag, trial 0 of base seed 0."""

import sys

import numpy as np

try:
    import torch
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

X0 = np.array([0.5095786, 0.2123487, 0.43541658, 0.58267725, 0.39879346], "float32")
C2 = np.array([[-0.93369687, -0.25624716, -0.77088845, -0.1032722, -0.48485422, -0.12983],
    [-0.7423065, 0.8174633, -0.16176736, -0.33081686, -0.9113517, -0.94736314], [0.23760748,
    0.003143549, 0.44789183, -0.856676, -0.14820874, -0.899295], [0.24835503, -0.5017004,
    0.07910371, 0.8925096, 0.8043535, 0.20666718], [-0.8178799, -0.11157942, -0.8593546, 0.18821168,
    -0.5840467, -0.73344564], [0.35518575, 0.9944167, 0.5655129, -0.84801054, -0.27291918,
    0.3603034]], "float32")
given_back = []  # which of its results the graph has at all


def before():
    """What stands outside of the graph."""
    x0 = torch.tensor(X0)
    c2 = torch.tensor(C2)  # cotangent
    return (x0, c2), ()


def forward(x0, c2):
    """What the graph holds."""
    v1 = torch.diag(x0, 1)
    return (v1,)


def program(x0, c2, forward=forward):
    """What eager mode and the graph do."""
    (v1,) = forward(x0, c2)
    return (v1,)


def gradients(x0, c2):
    """What pushing back left."""
    return ()


class Replay:
    def __init__(self):
        self.compiled = torch.compile(forward, backend='inductor')

    def __call__(self, *given):
        results = [*program(*given, *modules, forward=self.compiled), *gradients(*given, *modules)]
        given_back[:] = [result is not None for result in results]
        return [result for result in results if result is not None]


def both(eager, graphed, rtol, atol, values):
    """Whether the two are the same tensor; `values` says whether its contents count."""
    if eager is None or graphed is None or eager.shape != graphed.shape or eager.dtype != graphed.dtype:
        return eager is graphed
    numbers = [np.array(side.detach().cpu().tolist()) for side in (graphed, eager)]
    return not values or np.allclose(*numbers, rtol, atol, equal_nan=True)


if __name__ == "__main__":
    try:
        tensors, modules = before()
        eager = [*program(*tensors, *modules), *gradients(*tensors, *modules)]
        [value.detach().numpy() for value in eager if value is not None]
    except Exception as error:
        sys.exit(print("cannot tell: eager mode raises", error) or 2)
    tensors, modules = before()
    try:
        graphed = Replay()(*tensors)
        graphed = [*graphed] if isinstance(graphed, (list, tuple)) else [graphed]
        [value.detach().numpy() for value in graphed]
    except Exception as error:
        print(*f"DIFFERS: eager mode accepts it, torch.compile(backend='inductor') raises {type(error).__name__}: {error}".split())
        sys.exit(1)
    graphed = [graphed.pop(0) if there else None for there in given_back]
    found = []
    for name, one, other, limits in zip(['v1'], eager, graphed, [(0.0001, 1e-05, True)]):
        if not both(one, other, *limits):
            found.append(f"{name}: eager {one}, torch.compile(backend='inductor') {other}")
    print(*("DIFFERS: " + "; ".join(found) if found else "same").split())
    sys.exit(1 if found else 0)
