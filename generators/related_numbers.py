"""Gives arrays numbers that tell more together: those of another array, and extremes where a loop has its last step."""

from __future__ import annotations

import math

import numpy as np

from generators.dtypes import COMPLEX, INTEGRAL, Array
from generators.entropy import Bits

#: The levels of values at which arrays have numbers in common; whole numbers also where they are extreme.
RELATED = frozenset(("ties", "whole"))
_WHOLE_LEVELS = frozenset(("ties", "whole", "huge", "infinite"))
#: The stream of random words, apart from the one that an array is made of.
_STREAM, _ENDS = 2, 3
#: What a vectorised loop takes in one go.
_BLOCK = 8


def related(
    values: Array, first: Array, dtype: str, level: str, seed: int, low: float | None, high: float | None
) -> Array:
    """`values`, a quarter of them those of `first` and a quarter the next ones to these, within [low, high)."""
    levels = _WHOLE_LEVELS if dtype in INTEGRAL else RELATED
    if level not in levels or not values.size or not first.size or dtype == "bool" or dtype in COMPLEX:
        return values
    bits, own = Bits(seed, _STREAM), values.reshape(-1)
    theirs = first.reshape(-1)
    if first.shape != values.shape:
        theirs = theirs[bits.below(theirs.size, own.size).astype(np.intp)]
    kind = bits.below(4, own.size)
    next_to = kind >= (2 if level not in RELATED else 3)  # next to an extreme is what is rounded to it
    mixed = np.where(next_to, _next(theirs, dtype), np.where(kind == 2, theirs, own))
    outside = (mixed < (-math.inf if low is None else low)) | (mixed >= (math.inf if high is None else high))
    allowed: Array = np.where(outside, own, mixed).astype(values.dtype).reshape(values.shape)
    return allowed


def with_telling_ends(values: Array, dtype: str, seed: int) -> Array:
    """`values`, but of rows that are longer than a block every second one ends in its greatest or its least number.

    What a loop over blocks leaves out at the end shows in a maximum only where it is that.
    """
    if not values.ndim or values.shape[-1] <= _BLOCK or not values.size or dtype == "bool" or dtype in COMPLEX:
        return values
    rows = values.reshape(-1, values.shape[-1])
    kind = Bits(seed, _ENDS).below(4, len(rows))
    numbers = np.arange(len(rows))
    places = np.where(kind == 2, rows.argmax(axis=1), np.where(kind == 3, rows.argmin(axis=1), values.shape[-1] - 1))
    ends = rows[:, -1].copy()
    rows[:, -1] = rows[numbers, places]
    rows[numbers, places] = ends
    return values


def _next(values: Array, dtype: str) -> Array:
    if dtype in INTEGRAL:
        one, greatest = values.dtype.type(1), np.iinfo(values.dtype).max
        following: Array = np.where(values < greatest, values + one, values - one)
        return following
    if dtype == "bfloat16":  # whose neighbours are not its carrier's
        return values
    with np.errstate(all="ignore"):  # the next one to the greatest is infinite
        return np.nextafter(values, values.dtype.type(math.inf))
