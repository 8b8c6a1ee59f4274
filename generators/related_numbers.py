"""Gives arrays numbers that tell more together: those of another array, and extremes where a loop has its last step."""

from __future__ import annotations

import math

import numpy as np

from generators.dtypes import COMPLEX, INTEGRAL, Array
from generators.entropy import Bits
from generators.values import Open

#: The levels of values at which arrays have numbers in common; whole numbers also where they are extreme.
RELATED = frozenset(("ties", "whole"))
_WHOLE_LEVELS = frozenset(("ties", "whole", "huge", "infinite", "nan"))
_NOT_FINITE = frozenset(("nan", "infinite"))
#: The stream of random words, apart from the one that an array is made of.
_STREAM, _ENDS, _PICKS = 2, 3, 4
#: What a vectorised loop takes in one go.
_BLOCK = 8
#: Up to here float32 holds every whole number, and up to there float64 does.
_SINGLE, _DOUBLE = 2**24, 2**53


def related(values: Array, first: Array, dtype: str, numbers: Open, seed: int) -> Array:
    """`values` (drawn as `numbers`), a quarter of them those of `first` and a quarter the next ones to these.

    Where `first` has NaN or infinities, some of these places have the same; where it has whole numbers that no float
    holds, there are those that a float rounds them to.
    """
    level, low, high = numbers.level, numbers.low, numbers.high
    if not values.size or not first.size or dtype == "bool" or dtype in COMPLEX:
        return values
    if dtype not in INTEGRAL and level not in RELATED and level not in _NOT_FINITE:
        return values
    bits, theirs = Bits(seed, _STREAM), _aligned(first, values.shape, seed)
    kind = bits.below(4, values.size).reshape(values.shape)
    mixed: Array = values
    if level in (_WHOLE_LEVELS if dtype in INTEGRAL else RELATED):
        next_to = kind >= (2 if level not in RELATED else 3)  # next to an extreme is what is rounded to it
        mixed = np.where(next_to, _next(theirs, dtype), np.where(kind == 2, theirs, values))
    if dtype in INTEGRAL:
        mixed = _rounded_alike(mixed, theirs)
    elif level == "infinite" or (level == "nan" and numbers.turn % 2):  # else NaN meets numbers only
        mixed = np.where(_every_second(~np.isfinite(theirs)), theirs, mixed)
    if low is not None or high is not None:
        inside = (mixed >= (-math.inf if low is None else low)) & (mixed < (math.inf if high is None else high))
        mixed = np.where(inside, mixed, values)
    chosen: Array = mixed.astype(values.dtype)
    return chosen


def _aligned(first: Array, shape: tuple[int, ...], seed: int) -> Array:
    """For each element of an array of `shape`, the element of `first` that it meets when both broadcast."""
    met = first[(0,) * (first.ndim - len(shape))] if first.ndim > len(shape) else first
    sizes = shape[len(shape) - met.ndim :]
    if all(theirs in (1, size) or size == 1 for theirs, size in zip(met.shape, sizes, strict=True)):
        last = tuple([slice(-1, None) if size == 1 else slice(None) for size in sizes])
        return np.broadcast_to(met[last], shape)
    count = math.prod(shape)
    picked: Array = first.reshape(-1)[Bits(seed, _PICKS).below(first.size, count).astype(np.intp)].reshape(shape)
    return picked


def _every_second(places: Array) -> Array:
    """The first of these places, the third, and so on."""
    chosen: Array = places & (np.cumsum(places.reshape(-1)).reshape(places.shape) % 2 == 1)
    return chosen


def _rounded_alike(values: Array, theirs: Array) -> Array:
    """`values`, but beside whole numbers beyond what a float holds, those that a float rounds these to: the first two
    of them surely, then every second one."""
    if values.dtype.itemsize < 4:
        return values
    beyond = (theirs > _SINGLE) | (theirs < -_SINGLE)
    if not beyond.any():
        return values
    second = _every_second(beyond) | (beyond & (np.cumsum(beyond.reshape(-1)).reshape(beyond.shape) == 2))
    chosen = second & (np.abs(theirs.astype(np.float64)) < 2.0**62)
    by_double = (theirs > _DOUBLE) | (theirs < -_DOUBLE)
    # What is not chosen may be too great for the way back.
    held = np.where(chosen, theirs, 0)
    rounded = np.where(by_double, held.astype(np.float64).astype(np.int64), held.astype(np.float32).astype(np.int64))
    limits = np.iinfo(values.dtype)
    found: Array = np.where(chosen, np.clip(rounded, limits.min, limits.max), values)
    return found


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
