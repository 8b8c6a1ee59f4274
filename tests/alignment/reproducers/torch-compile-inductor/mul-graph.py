"""mul: torch.compile(backend='inductor') of torch+compile=inductor differs from its eager mode. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, torch+compile=inductor 2.0.1+cu117; test_activation.py::test_in_place[name='CELU'], trial 0 of base seed 0."""

import sys

import numpy as np

try:
    import torch
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

X0 = np.array([[-5.7927914, -5.3393965], [0.52424765, -3.2566788], [-7.034069, 4.364244],
    [-0.70097566, 7.7049966], [5.5394435, 3.4132352], [-5.801297, 0.30728674]], "float32")
C4 = np.array([[-0.07590711, -0.011812925], [-0.38441682, 0.9081925], [-0.9074882, 0.6309602],
    [0.49670947, 0.26961267], [0.25616407, 0.31448948], [0.0004963875, 0.20354831]], "float32")
given_back = []  # which of its results the graph has at all


def before():
    """What stands outside of the graph."""
    x0 = torch.tensor(X0)
    m2 = torch.nn.CELU(inplace=True)
    c4 = torch.tensor(C4)  # cotangent
    return (x0, c4), (m2,)


def forward(x0, c4, m2):
    """What the graph holds."""
    v1 = x0 * 1
    v3 = m2(v1)
    return (v3, c4)


def program(x0, c4, m2, forward=forward):
    """What eager mode and the graph do."""
    x0.requires_grad_()
    (v3, c4) = forward(x0, c4, m2)
    v3.backward(c4)
    return ()


def gradients(x0, c4, m2):
    """What pushing back left."""
    return (x0.grad,)


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
    for name, one, other, limits in zip(['x0.grad'], eager, graphed, [(0.0001, 1e-05, True)]):
        if not both(one, other, *limits):
            found.append(f"{name}: eager {one}, torch.compile(backend='inductor') {other}")
    print(*("DIFFERS: " + "; ".join(found) if found else "same").split())
    sys.exit(1 if found else 0)
