"""nn.Hardswish: torch.compile(backend='inductor') of torch+compile=inductor differs from its eager mode. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, torch+compile=inductor 2.0.1+cu117; test_activation.py::test_gradient_at_the_corners[name='Hardswish'], trial 0 of base seed 0."""

import sys

import numpy as np

try:
    import torch
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

X0 = np.array([[2.0, -1.0, -2.0, -2.0, -3.0], [6.0, -3.0, -2.0, -2.0, 1.0], [1.0, 5.0, -1.0, 6.0,
    3.0], [-3.0, -4.0, 0.0, 5.0, 2.0]], "float32")
C3 = np.array([[0.8631718, 0.8818724, 0.9315915, 0.86701894, 0.92513394], [-0.9284781, -0.8848194,
    -0.10189974, -0.8590653, -0.8152293], [0.87037957, 0.22812092, 0.7309165, -0.72397625,
    0.7083999], [-0.6207293, 0.56202817, 0.40923476, 0.7287936, -0.34079206]], "float32")
given_back = []  # which of its results the graph has at all


def before():
    """What stands outside of the graph."""
    x0 = torch.tensor(X0)
    m1 = torch.nn.Hardswish()
    c3 = torch.tensor(C3)  # cotangent
    return (x0, c3), (m1,)


def forward(x0, c3, m1):
    """What the graph holds."""
    v2 = m1(x0)
    return (v2, c3)


def program(x0, c3, m1, forward=forward):
    """What eager mode and the graph do."""
    x0.requires_grad_()
    (v2, c3) = forward(x0, c3, m1)
    v2.backward(c3)
    return ()


def gradients(x0, c3, m1):
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
