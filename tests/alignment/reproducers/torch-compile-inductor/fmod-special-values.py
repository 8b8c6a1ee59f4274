"""fmod: torch.compile(backend='inductor') of torch+compile=inductor differs from its eager mode. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, torch+compile=inductor 2.0.1+cu117; test_elementwise.py::test_arithmetic_of_special_values[name='fmod'], trial 0 of base seed 0."""

import sys

import numpy as np

try:
    import torch
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

X0 = np.array([[0.9799067, 2.0846183, 0.4892466, -3.4028235e+38, 1.7108529, -np.inf], [-2.8890252,
    2.3257768, -0.8293599, -1.0052805, -2.8106527, -3.4028235e+38], [-1.7830868, -2.4895382,
    -2.744412, 1.1754944e-38, -2.148178, 0.40953994], [-1.2825041, -1.3798184, -0.8638567,
    -1.2593699, -1.0387827, 1.424731], [-1.7037588, -1.2374951, -1.2888308, 0.0, -1.7444897,
    -1e-45], [2.484786, 1.395299, -2.5987887, 1.6365759, 0.5154904, 1.8232347]], "float32")
X1 = np.array([[0.66301763, -2.4371605, -1.961351, 0.81248987, -1e-45, 0.92086303], [-0.12511623,
    0.8521098, -2.960968, -np.inf, -2.107791, -2.6645193], [0.0, 0.20520139, 2.911225, -1.6921914,
    -0.15711987, 1.7149278], [0.91864717, -1.5477787, -1.1206684, -0.9663328, np.inf, 1.4242736],
    [-1.4815089, 1.0590117, 1.524152, -2.2269669, 2.0985634, -0.5962955], [np.nan, 0.6082337,
    -2.2057965, -1.0688438, np.nan, 1.2558094]], "float32")
given_back = []  # which of its results the graph has at all


def before():
    """What stands outside of the graph."""
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    return (x0, x1), ()


def forward(x0, x1):
    """What the graph holds."""
    v2 = torch.fmod(x0, x1)
    return (v2,)


def program(x0, x1, forward=forward):
    """What eager mode and the graph do."""
    (v2,) = forward(x0, x1)
    return (v2,)


def gradients(x0, x1):
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
    for name, one, other, limits in zip(['v2'], eager, graphed, [(0.0001, 1e-05, True)]):
        if not both(one, other, *limits):
            found.append(f"{name}: eager {one}, torch.compile(backend='inductor') {other}")
    print(*("DIFFERS: " + "; ".join(found) if found else "same").split())
    sys.exit(1 if found else 0)
