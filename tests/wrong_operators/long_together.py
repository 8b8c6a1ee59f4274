"""Operators that are wrong where several sizes are long or 1, where the first has fewer dimensions, or at halves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotest import random, random_tensor, torch
from tests.wrong_operators.wrong import Replacement, Wrong, off, through
from tests.wrong_operators.wrong import torch as real


def where_all_are_longer(than: int, operands: Sequence[int]) -> Replacement:
    """Return an operator that is wrong if all sizes of the arguments at places `operands` are greater than `than`."""

    def replacement(original: Any) -> Any:
        def wrong(*args: Any) -> Any:
            result = original(*args)
            long = all(size > than for at in operands for size in args[at].shape[:2])
            return off(result) if long else result

        return wrong

    return replacement


def where_the_first_has_fewer(change: Replacement) -> Replacement:
    def replacement(original: Any) -> Any:
        wrong = change(original)
        return lambda x, y: (wrong if 0 < x.dim() < y.dim() else original)(x, y)

    return replacement


def where_the_result_is_one_number(original: Any) -> Any:
    """Return a product of matrices that is wrong if it is computed as one of two vectors, each of several numbers."""

    def wrong(x: Any, y: Any) -> Any:
        result = original(x, y)
        return off(result) if result.shape[-2:] == (1, 1) and x.shape[-1] > 1 else result

    return wrong


def turned(original: Any) -> Any:
    return lambda x, y: original(x.flip(0), y)


def half_of_the_gradient_of_the_first(original: Any) -> Any:
    return lambda x, y: original(through(lambda gradient, _: gradient / 2)(x), y)


def halves_up(only: Any) -> Replacement:
    """Return a `round` that rounds halves up where ``only(x)`` is true."""

    def replacement(original: Any) -> Any:
        return lambda x, **named: real().floor(x + 0.5).to(x.dtype) if only(x) and not named else original(x, **named)

    return replacement


def two_of_any_rank(name: str) -> Any:
    return lambda: getattr(torch, name)(random_tensor(), random_tensor())


def of_long_widths(linear: type) -> type:
    def forward(self: Any, x: Any) -> Any:
        result = linear.forward(self, x)
        return off(result) if min(self.weight.shape) > 16 else result

    return type("Linear", (linear,), {"forward": forward})


def linear() -> Any:
    width = random()
    return torch.nn.Linear(width, random())(random_tensor(ndim=2, dim1=width))


def matmul() -> Any:
    width = random()
    return torch.matmul(random_tensor(2, dim1=width), random_tensor(2, dim0=width))


def matmul_of_few_columns() -> Any:
    width = random(2, 8)
    return torch.matmul(random_tensor(2, dim1=width), random_tensor(2, dim0=width))


def bmm() -> Any:
    batch = random(1, 5)
    return torch.bmm(random_tensor(3, dim0=batch, dim2=3), random_tensor(3, dim0=batch, dim1=3))


def mm() -> Any:
    rows, width, columns = random(), random(), random()
    return torch.mm(random_tensor(2, rows, width), random_tensor(2, width, columns))


LONG_TOGETHER = [
    Wrong("Linear of two long widths", "nn.Linear", of_long_widths, linear),
    Wrong("matmul of three long sizes", "matmul", where_all_are_longer(16, [0, 1]), matmul),
    Wrong("mm of three long sizes", "mm", where_all_are_longer(16, [0, 1]), mm),
    Wrong("matmul to one number", "matmul", where_the_result_is_one_number, matmul_of_few_columns),
    Wrong("bmm to one number", "bmm", where_the_result_is_one_number, bmm),
    *(
        Wrong(f"{name} {how} of fewer dimensions", name, where_the_first_has_fewer(change), two_of_any_rank(name))
        for name in ("add", "hypot", "remainder", "atan2")
        for how, change in (("first", turned), ("gradient of a first", half_of_the_gradient_of_the_first))
        if (name, how) != ("remainder", "gradient of a first")
    ),
    Wrong(
        "round of halves in doubles",
        "round",
        halves_up(lambda x: x.dtype == real().float64),
        lambda: torch.round(random_tensor(ndim=2)),
    ),
    Wrong(
        "round of halves in a few numbers",
        "round",
        halves_up(lambda x: x.numel() < 1000),
        lambda: torch.round(random_tensor(ndim=2)),
    ),
]
