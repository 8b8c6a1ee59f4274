"""nn.Embedding: torch.compile(backend='aot_eager') of torch+compile=aot_eager differs from its eager mode. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, torch+compile=aot_eager 2.0.1+cu117; test_embedding.py::TestEmbedding.test_gradients_are_scaled_by_frequency, trial 0 of base seed 0."""

import sys

import numpy as np

try:
    import torch
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

A0 = np.array([[0.0050549163, 0.27570722, 0.65815264], [0.88325596, -2.2864826, 0.26358262],
    [1.0184993, -2.6231513, -1.4753752], [1.111451, 0.66058946, -0.68796855], [-0.6554066,
    -2.2525382, -0.2639027], [0.17213207, -0.98165566, -0.40157118], [0.57495975, -0.8383385,
    -1.2515206]], "float32")
X0 = np.array([[0, 6, 6, 6, 6, 5], [0, 2, 4, 5, 5, 6]], "int64")
C4 = np.array([[[0.114096284, -0.40591002, -0.863381], [-0.44308126, -0.5227699, 0.045316935],
    [-0.89781785, 0.26552188, -0.43511558], [-0.7727212, 0.7450092, -0.75806236], [-0.9567648,
    0.97057354, 0.20239997], [-0.95233214, 0.07579136, -0.7119813]], [[0.64573085, -0.55953646,
    -0.92138326], [0.96966505, -0.3067211, -0.18118918], [-0.9164535, 0.5293585, 0.62179136],
    [0.71012366, 0.7795305, -0.24222744], [-0.7602577, -0.6388626, 0.8834871], [-0.054729342,
    0.14861035, 0.0004566908]]], "float32")
given_back = []  # which of its results the graph has at all


def before():
    """What stands outside of the graph."""
    m0 = torch.nn.Embedding(7, 3, scale_grad_by_freq=True)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(A0))
    x0 = torch.tensor(X0)
    c4 = torch.tensor(C4)  # cotangent
    return (x0, c4), (m0,)


def program(x0, c4, m0):
    """What eager mode and the graph do."""
    v3 = m0(x0)
    v3.backward(c4)
    return (v3,)


def gradients(x0, c4, m0):
    """What pushing back left."""
    return (m0.weight.grad,)


class Replay:
    def __init__(self):
        self.compiled = torch.compile(lambda *given: program(*given, *modules), backend='aot_eager')

    def __call__(self, *given):
        results = [*self.compiled(*given), *gradients(*given, *modules)]
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
        print(*f"DIFFERS: eager mode accepts it, torch.compile(backend='aot_eager') raises {type(error).__name__}: {error}".split())
        sys.exit(1)
    graphed = [graphed.pop(0) if there else None for there in given_back]
    found = []
    for name, one, other, limits in zip(['v3', 'm0.weight.grad'], eager, graphed, [(0.0001, 1e-05, False), (0.0001, 1e-05, False)]):
        if not both(one, other, *limits):
            found.append(f"{name}: eager {one}, torch.compile(backend='aot_eager') {other}")
    print(*("DIFFERS: " + "; ".join(found) if found else "same").split())
    sys.exit(1 if found else 0)
