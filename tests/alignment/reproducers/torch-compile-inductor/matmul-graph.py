"""matmul: torch.compile(backend='inductor') of torch+compile=inductor differs from its eager mode. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, torch+compile=inductor 2.0.1+cu117; test_matmul.py::test_matmul_of_ranks[ranks=(4, 4)], trial 0 of base seed 0."""

import sys

import numpy as np

try:
    import torch
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

X0 = np.array([[[[0.18866086, -0.07695508, 7.6174736e-05, -0.9446987, 0.5061656]], [[-0.4171487,
    -0.8602179, -0.18817246, -0.78632474, -0.94632626]]]], "float32")
X1 = np.array([[[[0.75235, 0.6349038, -0.010304093, 0.578318], [-0.21042883, 0.63843834, 0.4389249,
    -0.45282543], [-0.013323188, -0.23209095, 0.79215646, -0.22040999], [-0.9501023, -0.90772474,
    -0.11440027, -0.2715876], [-0.11830449, -0.2453394, -0.619908, 0.089793205]], [[-0.99256945,
    -0.38593423, -0.4158287, -0.42026198], [-0.15876544, -0.26839173, 0.46408522, 0.47825468],
    [0.25727904, 0.28038633, -0.31788492, -0.286219], [0.8509419, -0.44619203, 0.12088823,
    -0.9871111], [0.4777639, -0.34184337, 0.4376235, 0.37237155]]]], "float32")
C7 = np.array([[[[0.15532136, 0.40205705, -0.1788652, -0.2749058]], [[0.20530617, -0.1578809,
    -0.90335953, -0.58356106]]], [[[-0.32177138, 0.61184525, -0.6048492, -0.65883744]], [[0.640867,
    -0.62542677, 0.75961745, -0.1511352]]]], "float32")
given_back = []  # which of its results the graph has at all


def before():
    """What stands outside of the graph."""
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    c7 = torch.tensor(C7)  # cotangent
    return (x0, x1, c7), ()


def forward(x0, x1, c7):
    """What the graph holds."""
    v1 = x0.expand((2, 2, 1, 5))  # layout
    v2 = v1.requires_grad_()  # layout
    v4 = x1.expand((2, 2, 5, 4))  # layout
    v5 = v4.requires_grad_()  # layout
    v6 = torch.matmul(v2, v5)
    return (v1, v2, v4, v5, v6)


def program(x0, x1, c7, forward=forward):
    """What eager mode and the graph do."""
    (v1, v2, v4, v5, v6) = forward(x0, x1, c7)
    return (v1, v2, v4, v5, v6)


def gradients(x0, x1, c7):
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
    for name, one, other, limits in zip(['v1', 'v2', 'v4', 'v5', 'v6'], eager, graphed, [(0.0001, 1e-05, False), (0.0001, 1e-05, False), (0.0001, 1e-05, False), (0.0001, 1e-05, False), (0.0001, 1e-05, False)]):
        if not both(one, other, *limits):
            found.append(f"{name}: eager {one}, torch.compile(backend='inductor') {other}")
    print(*("DIFFERS: " + "; ".join(found) if found else "same").split())
    sys.exit(1 if found else 0)
