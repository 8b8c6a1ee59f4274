"""Operators that are wrong for a way to broadcast, for whole blocks alone, or for whole numbers with few bits."""

from __future__ import annotations

from typing import Any

from autotest import random_tensor, torch
from tests.wrong_operators.numbers import one, two
from tests.wrong_operators.wrong import Replacement, Wrong, given, of_two, off


def where_shapes(are: Any) -> Replacement:
    """Return an operator of two arrays that is wrong if ``are(shape of the first, shape of the second)`` is true."""
    return of_two(lambda result, x, y: off(result) if are(tuple(x.shape), tuple(y.shape)) else result)


def of_three_dimensions(name: str) -> Any:
    return lambda: getattr(torch, name)(random_tensor(ndim=3), random_tensor(ndim=3))


def is_a_bias(mine: tuple[int, ...], theirs: tuple[int, ...]) -> bool:
    return (*mine[:2], min(theirs[:2])) == (1, 1, max(2, min(theirs[:2]))) and mine[2] == theirs[2] > 1


def is_a_mask(mine: tuple[int, ...], theirs: tuple[int, ...]) -> bool:
    """Return whether the shape `mine` has a 1 in the middle alone, and `theirs` has none."""
    return mine == (theirs[0], 1, theirs[2]) and min(theirs) > 1


def from_its_first_row(original: Any) -> Any:
    """Return an operator that reads the first row of a column for all rows."""
    return lambda x, y: original(x[:1] if x.shape == (len(y), 1) != y.shape else x, y)


BROADCASTS = [
    Wrong("add of a first like a bias", "add", where_shapes(is_a_bias), of_three_dimensions("add")),
    Wrong("mul by a second like a bias", "mul", where_shapes(lambda x, y: is_a_bias(y, x)), of_three_dimensions("mul")),
    Wrong(
        "sub of a second with a one in the middle",
        "sub",
        where_shapes(lambda x, y: is_a_mask(y, x)),
        of_three_dimensions("sub"),
    ),
    Wrong("sub from the first number of a column", "sub", from_its_first_row, two("sub")),
    Wrong(
        "add of two arrays with rows of whole blocks",
        "add",
        where_shapes(lambda x, y: x == y and x[-1] % 16 == 0),
        two("add"),
    ),
    Wrong(
        "sum of thousands of numbers leaves out the last of an odd number",
        "sum",
        given(lambda x: x.reshape(-1)[:-1] if x.numel() > 2048 and x.numel() % 2 else x),
        one("sum"),
    ),
    Wrong(
        "any of rows of int64 as int32 past a block of 32",
        "any",
        lambda f: lambda x, dim: f(x[:, 32:].int() if x.shape[1] > 32 and not f(x[:, :32]) else x, dim=dim),
        lambda: torch.any(random_tensor(ndim=2, dtype="int64"), dim=1),
    ),
    Wrong("all of the lowest bytes of int32", "all", lambda f: lambda x: f(x % 256), one("all", dtype="int32")),
]
