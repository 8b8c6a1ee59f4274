"""Operators that are wrong for one of their operands alone: a truth value, a weight, a bias, an image."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autotest import random_tensor, torch
from tests.wrong_operators.beside import has_channels_last
from tests.wrong_operators.inference import with_wrong_gradient
from tests.wrong_operators.numbers import one, two
from tests.wrong_operators.reported import functional, plain
from tests.wrong_operators.seldom import called
from tests.wrong_operators.wrong import Replacement, Wrong, given, of_first


def where_it_alone_has_a_gradient(place: int) -> Replacement:
    """Return an operator with a wrong gradient of argument `place` if no other argument requires grad."""

    def replacement(original: Any) -> Any:
        def wrong(*args: Any) -> Any:
            others = [arg for at, arg in enumerate(args) if at != place]
            alone = not any(arg.requires_grad for arg in others)
            return original(*[with_wrong_gradient(arg) if alone and arg is args[place] else arg for arg in args])

        return wrong

    return replacement


def linear() -> Any:
    return torch.nn.functional.linear(plain(dim1=3), plain(dim0=2, dim1=3), random_tensor(ndim=1, dim0=2))


def sum_of_images() -> Any:
    return torch.add(random_tensor(ndim=4), random_tensor(ndim=4))


def of_one_shape(are: Callable[[Any, Any], bool]) -> Replacement:
    return called(lambda x, y: x.shape == y.shape and are(x, y))


ALONE = [
    Wrong(
        "logical_and of a single true value and many",
        "logical_and",
        called(lambda x, y: x.numel() == 1 < y.numel() and bool(x.all())),
        two("logical_and", dtype=bool),
    ),
    Wrong(
        "masked_fill by a single true value",
        "masked_fill",
        called(lambda x, mask, value: mask.numel() == 1 < x.numel() and bool(mask.all())),
        lambda: torch.masked_fill(plain(), plain(dtype=bool), 1.5),
    ),
    Wrong("linear of a weight alone", functional("linear"), where_it_alone_has_a_gradient(1), linear),
    Wrong("linear of a bias alone", functional("linear"), where_it_alone_has_a_gradient(2), linear),
    Wrong(
        "add of channels last and a contiguous second",
        "add",
        of_one_shape(lambda x, y: has_channels_last(x) and y.is_contiguous()),
        sum_of_images,
    ),
    Wrong(
        "add of a contiguous first and channels last",
        "add",
        of_one_shape(lambda x, y: x.is_contiguous() and has_channels_last(y)),
        sum_of_images,
    ),
    Wrong("floor of doubles in single precision", "floor", given(lambda x: x.float().to(x.dtype)), one("floor")),
    Wrong("min of int32 starts at zero", "min", of_first(lambda r, x: r.clamp(max=0)), one("min", dtype="int32")),
]
