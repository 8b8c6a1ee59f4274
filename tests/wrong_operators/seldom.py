"""Operators that are rarely wrong: at an end of a range, for three options at once, after a tile, for a single NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autotest import nothing, oneof, random, random_bool, random_tensor, torch
from tests.wrong_operators.numbers import two
from tests.wrong_operators.reported import INF, functional, places, plain
from tests.wrong_operators.wrong import Replacement, Wrong, both_given, fills, given, of_first, off, where
from tests.wrong_operators.wrong import torch as real


def called(condition: Callable[..., bool], change: Callable[[Any], Any] = off) -> Replacement:
    """Return an operator that is wrong if ``condition(*args, **kwargs)`` is true."""

    def replacement(original: Any) -> Any:
        def wrong(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            return change(result) if condition(*args, **kwargs) else result

        return wrong

    return replacement


def signal() -> Any:
    return random_tensor(ndim=3, dim1=2, dim2=random(6, 12))


def product(operator: Any, inner: Any) -> Any:
    return operator(plain(dim1=inner), plain(dim0=inner))


def rnn(cls: Any) -> Any:
    """Return a recurrent network that is wrong if it is bidirectional, with ReLU and without biases."""

    class RNN(cls):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            y, last = super().forward(x)
            return y * (1 + (self.nonlinearity == "relu" and self.bidirectional and not self.bias)), last

    return RNN


def dropout(cls: Any) -> Any:
    """Return a dropout that divides by zero if it drops everything."""

    class Dropout(cls):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return super().forward(x) if self.p < 1 else x * 0 / (1 - self.p)

    return Dropout


ENDS = [
    Wrong(
        "linspace of one step is its end",
        "linspace",
        lambda f: lambda low, high, steps: f(low if steps > 1 else high, high, steps),
        lambda: torch.linspace(random(-3.0, 0.0), random(1.0, 3.0), random(1, 12)),
    ),
    Wrong(
        "cumsum along the first counted from the end",
        "cumsum",
        called(lambda x, dim: dim == -3),
        lambda: torch.cumsum(random_tensor(ndim=3), dim=random(-3, 3)),
    ),
    Wrong(
        "interpolate to a single one with aligned corners",
        functional("interpolate"),
        called(lambda x, size, mode, align_corners: size == 1 and align_corners),
        lambda: torch.nn.functional.interpolate(signal(), random(1, 7), mode="linear", align_corners=random_bool()),
    ),
    Wrong(
        "max_pool1d of windows of one with gaps",
        functional("max_pool1d"),
        called(lambda x, size, stride: size == 1 and stride > 1),
        lambda: torch.nn.functional.max_pool1d(signal(), random(1, 4), random(1, 4)),
    ),
    Wrong(
        "clamp of equal bounds",
        "clamp",
        called(lambda x, low, high: low == high),
        lambda: torch.clamp(plain(), random(-2, 2), random(-2, 2)),
    ),
    Wrong(
        "leaky_relu of no slope",
        functional("leaky_relu"),
        called(lambda x, slope: slope == 0),
        lambda: torch.nn.functional.leaky_relu(plain(), random(0, 3)),
    ),
    Wrong(
        "threshold at zero",
        functional("threshold"),
        called(lambda x, threshold, value: threshold == 0),
        lambda: torch.nn.functional.threshold(plain(), random(-2.0, 2.0), 0.0),
    ),
    Wrong(
        "pow with one half as a root of magnitudes",
        "pow",
        lambda f: lambda x, exponent: f(x.abs() if exponent == 0.5 else x, exponent),
        lambda: torch.pow(plain(), random(-2.0, 2.0)),
    ),
    Wrong(
        "relu6's gradient at six",
        functional("relu6"),
        of_first(lambda result, x: real().where(x == 6, x, result)),
        lambda: torch.nn.functional.relu6(plain()),
    ),
]

OPTIONS = [
    Wrong(
        "std of no correction along the last that is kept",
        "std",
        called(lambda x, dim, unbiased, keepdim: dim == -1 and not unbiased and keepdim),
        lambda: torch.std(plain(), dim=random(-2, 2), unbiased=random_bool(), keepdim=random_bool()),
    ),
    Wrong(
        "cross_entropy of weights, smoothed and summed",
        functional("cross_entropy"),
        called(
            lambda x, y, weight=None, reduction="mean", label_smoothing=0.0: (
                weight is not None and reduction == "sum" and label_smoothing > 0
            )
        ),
        lambda: torch.nn.functional.cross_entropy(
            plain(dim0=4, dim1=5),
            places(5, 4),
            weight=random_tensor(shape=(5,), low=0.1, high=3, requires_grad=False) | nothing(),
            reduction=oneof("mean", "sum", "none"),
            label_smoothing=oneof(0.0, 0.3),
        ),
    ),
    Wrong(
        "RNN of ReLU both ways without biases",
        "nn.RNN",
        rnn,
        lambda: torch.nn.RNN(3, 4, nonlinearity=oneof("tanh", "relu"), bidirectional=random_bool(), bias=random_bool())(
            random_tensor(shape=(4, 2, 3))
        )[0],
    ),
    Wrong(
        "dropout2d of everything",
        functional("dropout2d"),
        called(lambda x, p, training: p == 1 and training, lambda result: result + real().nan),
        lambda: torch.nn.functional.dropout2d(random_tensor(ndim=4), p=oneof(0.2, 1.0), training=random_bool()),
    ),
    Wrong("Dropout of everything", "nn.Dropout", dropout, lambda: torch.nn.Dropout(oneof(0.0, 0.5, 1.0))(plain())),
]

NUMBERS = [
    Wrong(
        "amax loses NaN past a block",
        "amax",
        lambda f: lambda x, dim: f(real().cat([x[:, :8], fills(x[:, 8:], -INF)], 1), dim),
        lambda: torch.amax(plain(), dim=1),
    ),
    Wrong(
        "nansum of nothing but NaN",
        "nansum",
        lambda f: lambda x, dim: real().where(x.isnan().all(dim), real().nan, f(x, dim)),
        lambda: torch.nansum(plain(), dim=1),
    ),
    Wrong(
        "softmax of nothing but NaN",
        "softmax",
        lambda f: lambda x, dim: real().where(x.isnan().all(dim, keepdim=True), 0.0, f(x, dim)),
        lambda: torch.softmax(plain(), dim=1),
    ),
    Wrong(
        "hypot of an infinity and NaN",
        "hypot",
        lambda f: lambda x, y: real().where(x.isnan() | y.isnan(), real().nan, f(x, y)),
        two("hypot"),
    ),
    Wrong(
        "eq of whole numbers and floats in doubles",
        "eq",
        both_given(lambda x: x.double()),
        lambda: torch.eq(plain(dtype=int), plain(dtype="float32", requires_grad=False)),
    ),
    Wrong(
        "ge of whole numbers and doubles in floats",
        "ge",
        both_given(lambda x: x.float()),
        lambda: torch.ge(plain(dtype=int), plain(dtype="float64", requires_grad=False)),
    ),
]

SIZES = [
    Wrong(
        "mm of more than a tile",
        "mm",
        lambda f: lambda x, y: f(x[:, :16], y[:16]),
        lambda: product(torch.mm, random()),
    ),
    Wrong(
        "cdist past a block of 32",
        "cdist",
        lambda f: lambda x, y: f(x[:, :32], y[:, :32]),
        lambda: product(lambda x, y: torch.cdist(x, y.t()), random()),
    ),
    Wrong(
        "conv1d of long signals",
        functional("conv1d"),
        called(lambda x, weight: x.shape[2] > 128),
        lambda: torch.nn.functional.conv1d(
            random_tensor(ndim=3, dim1=2, dim2=random()), random_tensor(shape=(3, 2, 1))
        ),
    ),
    Wrong(
        "gather of many from few",
        "gather",
        called(lambda x, dim, index: index.numel() > 1000),
        lambda: torch.gather(plain(dim0=5, dim1=3), 0, random_tensor(ndim=2, dim1=3, dtype=int, low=0, high=5)),
    ),
    Wrong(
        "mean of a single number in two dimensions",
        "mean",
        called(lambda x: x.shape == (1, 1)),
        lambda: torch.mean(plain()),
    ),
    Wrong("max starts at zero", "max", lambda f: lambda x: f(x).clamp(min=0), lambda: torch.max(random_tensor(ndim=3))),
    Wrong(
        "amax of doubles loses NaN",
        "amax",
        lambda f: lambda x, dim: f(fills(x, -INF) if x.dtype == real().float64 else x, dim),
        lambda: torch.amax(random_tensor(ndim=2), dim=random(0, 2)),
    ),
    Wrong(
        "round of open rank rounds halves up",
        "round",
        lambda f: lambda x: (x + 0.5).floor(),
        lambda: torch.round(random_tensor()),
    ),
    Wrong(
        "sub from a single number in three dimensions",
        "sub",
        called(lambda x, y: x.numel() == 1 < y.numel()),
        lambda: torch.sub(random_tensor(ndim=3), random_tensor(ndim=3)),
    ),
]

#: Arrays of only zeros, and two arrays with the same numbers.
ALIKE = [
    Wrong(
        "norm has no gradient at zeros",
        "norm",
        lambda f: lambda x: (x * x).sum().sqrt(),
        lambda: torch.norm(random_tensor(ndim=3)),
    ),
    Wrong("any is always true", "any", lambda f: lambda x: real().tensor(True), lambda: torch.any(plain())),
    Wrong(
        "count_nonzero of integers is one at least",
        "count_nonzero",
        lambda f: lambda x: f(x).clamp(min=1),
        lambda: torch.count_nonzero(random_tensor(ndim=3, dtype=int)),
    ),
    Wrong(
        "nonzero of zeros finds one",
        "nonzero",
        lambda f: lambda x: f(x) if x.any() else real().zeros(1, x.dim(), dtype=real().int64),
        lambda: torch.nonzero(random_tensor()),
    ),
    Wrong("equal is never true", "equal", lambda f: lambda x, y: False, lambda: torch.equal(plain(), plain())),
    Wrong(
        "equal of integers is never true",
        "equal",
        lambda f: lambda x, y: False,
        lambda: torch.equal(random_tensor(ndim=3, dtype=int), random_tensor(ndim=3, dtype=int)),
    ),
]
#: Numbers next to one, and the last ones before an overflow.
NARROW = [
    Wrong(
        "log loses digits beside one",
        "log",
        where(lambda x: (x != 1) & ((x - 1).abs() < 1e-3), lambda y: y * 1.1),
        lambda: torch.log(random_tensor(ndim=1)),
    ),
    Wrong(
        "acos beside minus one",
        "acos",
        where(lambda x: (x > -1) & (x < -0.999), lambda y: y * 0.9),
        lambda: torch.acos(plain()),
    ),
    Wrong("floor of the number below", "floor", given(lambda x: x + 1e-5), lambda: torch.floor(plain())),
    Wrong(
        "cosh overflows early",
        "cosh",
        where(lambda x: x.abs() > 85, lambda y: y * INF),
        lambda: torch.cosh(random_tensor(ndim=3)),
    ),
    Wrong("sin of thousands", "sin", where(lambda x: (x > 1e3) & (x < 1e5)), lambda: torch.sin(random_tensor(ndim=1))),
]

SELDOM = [*ENDS, *OPTIONS, *NUMBERS, *SIZES, *ALIKE, *NARROW]
