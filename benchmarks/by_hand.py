"""Loops as one would write them by hand: draw, run both frameworks, backpropagate a cotangent, compare.

Each loop does the same as the body of the same name in `benchmarks.cases`. It compares all results and gradients with
`numpy.allclose`. This library also compares inputs, parameters and dtypes; the loops do not.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np


class ByHand:
    """The two frameworks and a random generator, as in a hand-written test file."""

    def __init__(self, torch: ModuleType, flow: ModuleType, seed: int = 0) -> None:
        self.torch = torch
        self.flow = flow
        self.rng = np.random.default_rng(seed)
        self.tolerance = {"rtol": 1e-4, "atol": 1e-5}

    def dim(self, size: int | None, low: int = 1, high: int = 6) -> int:
        return size or int(self.rng.integers(low, high))

    def leaves(self, *shape: int, requires_grad: bool = True) -> tuple[Any, Any]:
        array = self.rng.random(shape, dtype=np.float32)
        expected = self.torch.tensor(array, requires_grad=requires_grad)
        return expected, self.flow.tensor(array, requires_grad=requires_grad)

    def backward(self, expected: Any, actual: Any) -> None:
        cotangent = self.rng.uniform(-1, 1, tuple(expected.shape)).astype(np.float32)
        expected.backward(self.torch.tensor(cotangent))
        actual.backward(self.flow.tensor(cotangent))

    def same(self, expected: Any, actual: Any) -> None:
        assert tuple(expected.shape) == tuple(actual.shape)
        assert np.allclose(actual.detach().numpy(), expected.detach().numpy(), **self.tolerance)

    def same_parameters(self, expected: Any, actual: Any) -> None:
        others = dict(actual.named_parameters())
        for name, parameter in expected.named_parameters():
            self.same(parameter.grad, others[name].grad)

    def load(self, expected: Any, actual: Any) -> None:
        state = {name: self.flow.tensor(value.detach().numpy()) for name, value in expected.state_dict().items()}
        actual.load_state_dict(state)


def relu(hand: ByHand, size: int | None) -> None:
    x, u = hand.leaves(hand.dim(size), hand.dim(size))
    y, v = hand.torch.relu(x), hand.flow.relu(u)
    hand.backward(y, v)
    hand.same(y, v)
    hand.same(x.grad, u.grad)


def matmul(hand: ByHand, size: int | None) -> None:
    inner = hand.dim(size)
    x, u = hand.leaves(hand.dim(size), inner)
    y, v = hand.leaves(inner, hand.dim(size))
    z, w = hand.torch.matmul(x, y), hand.flow.matmul(u, v)
    hand.backward(z, w)
    hand.same(z, w)
    hand.same(x.grad, u.grad)
    hand.same(y.grad, v.grad)


def add_broadcasting(hand: ByHand, size: int | None) -> None:
    columns = hand.dim(size)
    x, u = hand.leaves(hand.dim(size), columns)
    y, v = hand.leaves(1, columns)
    z, w = x + y, u + v
    hand.backward(z, w)
    hand.same(z, w)
    hand.same(x.grad, u.grad)
    hand.same(y.grad, v.grad)


def conv2d_module(hand: ByHand, size: int | None) -> None:
    channels, out = hand.dim(None, 1, 5), hand.dim(None, 1, 5)
    options = {"kernel_size": hand.dim(None, 1, 4), "padding": hand.dim(None, 0, 3)}
    m, n = hand.torch.nn.Conv2d(channels, out, **options), hand.flow.nn.Conv2d(channels, out, **options)
    hand.load(m, n)
    side = hand.dim(size, 4, 8)
    x, u = hand.leaves(1, channels, side, side)
    y, v = m(x), n(u)
    hand.backward(y, v)
    hand.same(y, v)
    hand.same(x.grad, u.grad)
    hand.same_parameters(m, n)


def layer_norm(hand: ByHand, size: int | None) -> None:
    columns = hand.dim(size, 8, 13)
    x, u = hand.leaves(hand.dim(size), columns)
    y = hand.torch.nn.functional.layer_norm(x, (columns,))
    v = hand.flow.nn.functional.layer_norm(u, (columns,))
    hand.backward(y, v)
    hand.same(y, v)
    hand.same(x.grad, u.grad)


def chain(hand: ByHand, size: int | None) -> None:
    x, u = hand.leaves(hand.dim(size), hand.dim(size))
    y = _chain(hand.torch, x)
    v = _chain(hand.flow, u)
    hand.backward(y[-1], v[-1])
    for expected, actual in zip(y, v, strict=True):
        hand.same(expected, actual)
    hand.same(x.grad, u.grad)


def _chain(framework: Any, x: Any) -> list[Any]:
    results = [framework.tanh(x)]
    results.append(results[-1] * x)
    results.append(framework.sigmoid(results[-1]))
    results.append(results[-1] + x)
    results.append(-results[-1])
    results.append(framework.exp(results[-1]))
    results.append(framework.nn.functional.softplus(results[-1]))
    results.append(framework.sin(results[-1]))
    results.append(results[-1] / 3.0)
    results.append(framework.square(results[-1]))
    return results


def cross_entropy(hand: ByHand, size: int | None) -> None:
    rows, classes = hand.dim(size), hand.dim(size, 2)
    x, u = hand.leaves(rows, classes)
    target = hand.rng.integers(0, classes, rows)
    y = hand.torch.nn.functional.cross_entropy(x, hand.torch.tensor(target))
    v = hand.flow.nn.functional.cross_entropy(u, hand.flow.tensor(target))
    hand.backward(y, v)
    hand.same(y, v)
    hand.same(x.grad, u.grad)


def flatten(hand: ByHand, size: int | None) -> None:
    x, u = hand.leaves(hand.dim(size and 1), hand.dim(size), hand.dim(size), requires_grad=False)
    start = int(hand.rng.integers(0, 2))
    hand.same(hand.torch.flatten(x, start), hand.flow.flatten(u, start))


def lstm_cell(hand: ByHand, size: int | None) -> None:
    rows, inputs, hidden = hand.dim(size), hand.dim(size), hand.dim(size)
    m, n = hand.torch.nn.LSTMCell(inputs, hidden), hand.flow.nn.LSTMCell(inputs, hidden)
    hand.load(m, n)
    x, u = hand.leaves(rows, inputs)
    h, i = hand.leaves(rows, hidden)
    c, d = hand.leaves(rows, hidden)
    (y, state), (v, other) = m(x, (h, c)), n(u, (i, d))
    hand.backward(y, v)
    hand.same(y, v)
    hand.same(state, other)
    for expected, actual in ((x, u), (h, i), (c, d)):
        hand.same(expected.grad, actual.grad)
    hand.same_parameters(m, n)


LOOPS: dict[str, Callable[[ByHand, int | None], None]] = {
    loop.__name__: loop
    for loop in (
        relu,
        matmul,
        add_broadcasting,
        conv2d_module,
        layer_norm,
        chain,
        cross_entropy,
        flatten,
        lstm_cell,
    )
}
