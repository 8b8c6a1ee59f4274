"""Operators whose function for float32 alone is wrong: frameworks compile another one for each dtype.

In double precision these operators are right. So neither the trials of doubles reveal them, nor does a replay in double
precision.
"""

from __future__ import annotations

from typing import Any

from autotest import oneof, random_tensor, torch
from tests.wrong_operators.numbers import one, two
from tests.wrong_operators.reported import INF
from tests.wrong_operators.wrong import (
    Replacement,
    Wrong,
    as_it_lies,
    fills,
    given,
    gradient_where,
    of_first,
    of_two,
    when,
    where,
)
from tests.wrong_operators.wrong import torch as real


def in_single_alone(replacement: Replacement) -> Replacement:
    """Return `replacement` for calls with a float32 tensor, and the right operator for all others."""

    def chosen(original: Any) -> Any:
        wrong = replacement(original)

        def called(*args: Any, **kwargs: Any) -> Any:
            single = any(isinstance(arg, real().Tensor) and arg.dtype == real().float32 for arg in args)
            return (wrong if single else original)(*args, **kwargs)

        return called

    return chosen


def at_pole(pole: float, finite: float) -> Replacement:
    return where(lambda x: x == pole, lambda result: real().full_like(result, finite))


def ignoring_nan(*, first: bool) -> Replacement:
    """Return a minimum or maximum that is the other operand if the `first` one, or else the second one, is NaN."""

    def change(result: Any, x: Any, y: Any) -> Any:
        ignored, other = (x, y) if first else (y, x)
        return real().where(ignored.isnan(), other, result)

    return of_two(change)


def slope_at(pole: float, finite: float) -> Replacement:
    return gradient_where(lambda x: x == pole, change=lambda gradient: real().full_like(gradient, finite))


def images() -> Any:
    return random_tensor(ndim=4)


def cycled(original: Any) -> Any:
    """Return a `masked_fill` that repeats the elements of the mask instead of broadcasting it."""

    def wrong(x: Any, mask: Any, value: Any) -> Any:
        places = real().arange(x.numel()) % mask.numel()
        return original(x, mask.reshape(-1)[places].reshape(x.shape), value)

    return wrong


def masked() -> Any:
    mask = random_tensor(ndim=2, dtype="bool", dim0=oneof(1, 3), dim1=oneof(1, 4))
    return torch.masked_fill(random_tensor(ndim=2, dim0=3, dim1=4), mask, 2.5)


def along(name: str, dim: int) -> Any:
    return lambda: getattr(torch, name)(random_tensor(ndim=2), dim=dim)


SINGLE_PRECISION = [
    Wrong(f"{name} in single precision", path, in_single_alone(replacement), body)
    for name, path, replacement, body in (
        ("atanh at one", "atanh", at_pole(1.0, 10.0), one("atanh")),
        ("log1p at minus one", "log1p", at_pole(-1.0, -17.0), one("log1p")),
        ("lgamma at minus one", "lgamma", at_pole(-1.0, 16.0), one("lgamma")),
        ("asin's gradient at one", "asin", slope_at(1.0, 1000.0), one("asin")),
        ("log1p's gradient at minus one", "log1p", slope_at(-1.0, 1e6), one("log1p")),
        ("maximum of NaN and a number", "maximum", ignoring_nan(first=True), two("maximum")),
        ("minimum of a number and NaN", "minimum", ignoring_nan(first=False), two("minimum")),
        (
            "max pooling of NaN",
            "nn.functional.max_pool2d",
            given(lambda x: fills(x, -INF)),
            lambda: torch.nn.functional.max_pool2d(images(), 2),
        ),
        (
            "amin of infinities",
            "amin",
            of_first(lambda result, x: result.clamp(max=real().finfo(x.dtype).max)),
            along("amin", 1),
        ),
        ("softmax far below zero", "softmax", when(lambda x: bool((x.amax(1) < -200).any())), along("softmax", 1)),
        ("sum of more than 512 rows", "sum", given(lambda x: x[:512]), along("sum", 0)),
        ("sum of rows in strided memory", "sum", given(as_it_lies), along("sum", 1)),
        ("masked_fill with a mask of one column", "masked_fill", cycled, masked),
    )
]
