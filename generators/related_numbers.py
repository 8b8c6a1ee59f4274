"""Changes arrays so that they reveal more faults: numbers in common with another array, extremes at a loop's end."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from generators.dtypes import COMPLEX, INTEGRAL, Array, limits_of
from generators.entropy import Bits
from generators.open_sizes import VECTOR
from generators.shapes import Shape
from generators.truth_values import alone_at_the_end, are_alike
from generators.values import LevelContents

#: The levels of `values` at which arrays have numbers in common. For integers, these include the extreme levels.
RELATED = frozenset(("ties", "whole"))
_WHOLE_LEVELS = frozenset(("ties", "whole", "huge", "infinite", "nan"))
#: The levels of `values` at which special numbers of two arrays meet.
NOT_FINITE = frozenset(("nan", "infinite"))
#: The level and turn at which arrays of one shape are equal, with their only zero in the same place: 0 / 0 occurs, too.
_EQUAL = ("zeros", 0)
#: The level and turn at which a later array has a zero beside another number of the first one.
_WITH_ZERO = ("whole", 1)
_ALONE = frozenset(("zeros", "nan"))
#: Streams of random words. They differ from the stream that fills the array.
_STREAM, _ENDS, _PICKS = 2, 3, 4
#: Dtypes that are divided by a processor instruction which traps on overflow.
_TRAPPING = frozenset(("int32", "int64"))
#: Ordinary numbers that zeros of another array meet.
_ORDINARY = (1.0, -2.5, 0.5, 3.0, -1.0)
#: The magnitudes up to which float32, and float64, represent every integer exactly.
_SINGLE, _DOUBLE = 2**24, 2**53


def are_equal(shape: Shape, first: Array, numbers: LevelContents) -> bool:
    """Return whether an array of `shape`, drawn as `numbers`, is equal to the `first` one, as in no other trial."""
    boundless = numbers.low is None and numbers.high is None
    return (numbers.level, numbers.turn) == _EQUAL and shape == first.shape and boundless


def related(values: Array, first: Array, dtype: str, numbers: LevelContents, seed: int) -> Array:
    """Return `values` (drawn as `numbers`) with a quarter replaced by numbers of `first` and a quarter by neighbours.

    Where `first` has NaN or infinities, some elements have the same. Where `first` has integers that a float rounds,
    some elements have the rounded integers.
    """
    level, low, high = numbers.level, numbers.low, numbers.high
    if not values.size or not first.size or dtype in COMPLEX:
        return values
    if dtype == "bool":
        return _meeting_both(values, first, seed)
    # In every second trial of NaN, each array already has one that meets a number, and one at its end.
    faces = level in NOT_FINITE and (level != "nan" or numbers.turn % 2 == 1)
    if dtype in INTEGRAL:
        low, high = numbers.whole_bounds(dtype)
    elif level == "zeros" and low is None and high is None:
        return _beside_zeros(values, _aligned(first, values.shape, seed))
    elif level not in RELATED and not faces and level != "huge":
        return values
    bits, theirs = Bits(seed, _STREAM), _aligned(first, values.shape, seed)
    # Kinds 0 and 1 stay, kind 2 is in common, kind 3 is a neighbour. The order starts at kind 2, so that even a few
    # numbers include one in common.
    kind = (bits.order(values.size).reshape(values.shape) + 2) % 4
    mixed: Array = values
    if level in (_WHOLE_LEVELS if dtype in INTEGRAL else RELATED):
        # Other levels have extremes, with neighbours only: a float rounds the neighbour of an extreme to the extreme.
        next_to = kind >= (2 if level not in RELATED else 3)
        mixed = np.where(next_to, _next(theirs, dtype), np.where(kind == 2, theirs, values))
        if (level, numbers.turn) == _WITH_ZERO and dtype not in INTEGRAL:
            _put_zero(mixed, (theirs != 0) & ((kind != 2) | (values.size == 1)))
    elif level == "huge":  # the sum of two great numbers, or their difference, overflows
        mixed = np.where(kind >= 2, np.where(kind == 2, theirs, -theirs), values)
    if dtype in INTEGRAL:
        mixed = _rounded_alike(mixed, theirs)
    elif faces:
        mixed = _facing(mixed, theirs, level)
    if low is not None or high is not None:
        mixed = np.where(_inside(mixed, low, high), mixed, values)
    chosen: Array = mixed.astype(values.dtype)
    return chosen


def converted(values: Array, other: Array, numbers: LevelContents, seed: int) -> Array:
    """Return `values` (drawn as `numbers`) with half replaced by numbers of `other` and by their neighbours.

    `other` is an array of another dtype. If one dtype represents numbers that the other rounds, comparisons of the two
    arrays reveal in which dtype they are computed.
    """
    if numbers.level not in _WHOLE_LEVELS or not values.size or not other.size:
        return values
    theirs, low, high = _aligned(other, values.shape, seed), numbers.low, numbers.high
    if values.dtype.kind != "f":
        low, high = numbers.whole_bounds(values.dtype.name)
    taken = (Bits(seed, _PICKS).order(values.size).reshape(values.shape) % 2 == 0) & np.isfinite(theirs)
    if values.dtype.kind == "f":
        taken &= np.isfinite(values)  # special numbers stay
        taken &= np.abs(theirs) <= np.finfo(values.dtype).max  # a greater one would become infinite
    else:
        limits = np.iinfo(values.dtype)
        taken &= theirs >= limits.min
        # As a float, the greatest integer may be rounded up to one that the dtype does not have.
        taken &= (
            (theirs == np.floor(theirs)) & (theirs < limits.max) if theirs.dtype.kind == "f" else theirs <= limits.max
        )
    held = np.where(taken, theirs, 0).astype(values.dtype)
    beside = taken & ~_every_second(taken)
    whole = values.dtype.kind == "f" != theirs.dtype.kind
    held = np.where(beside, held + held.dtype.type(1) if whole else _next(held, held.dtype.name), held)
    chosen: Array = np.where(taken & _inside(held, low, high), held, values)
    return chosen


def _inside(values: Array, low: float | None, high: float | None) -> Array:
    if values.dtype.kind == "f":
        values = values.astype(np.float64)  # NumPy 2 would make a bound beyond float16 infinite
    inside: Array = (values >= (-math.inf if low is None else low)) & (values < (math.inf if high is None else high))
    return inside


def sharing(values: Array, first: Array, dtype: str, low: float | None, high: float | None, seed: int) -> Array:
    """Return ascending `values` with every second one, as far as the bounds allow, replaced by a number of `first`.

    A search for the numbers of `first` then finds equal ones, so that the left and the right insertion points differ.
    """
    if not values.size or not first.size or dtype == "bool" or dtype in COMPLEX:
        return values
    if dtype in INTEGRAL:
        low, high = LevelContents("whole", low, high).whole_bounds(dtype)
    picked = first.reshape(-1)[Bits(seed, _PICKS).places(first.size, values.size)].reshape(values.shape)
    mixed = np.where(_every_second(np.isfinite(picked) & _inside(picked, low, high)), picked, values)
    return np.sort(mixed, axis=-1) if mixed.ndim else mixed


def _aligned(first: Array, shape: tuple[int, ...], seed: int) -> Array:
    """Return an array of `shape` with the element of `first` that meets each element when both broadcast.

    If they do not broadcast, the elements of `first` are picked at random.
    """
    if first.shape == shape:
        return first
    met = first[(0,) * (first.ndim - len(shape))] if first.ndim > len(shape) else first
    sizes = shape[len(shape) - met.ndim :]
    if all(theirs in (1, size) or size == 1 for theirs, size in zip(met.shape, sizes, strict=True)):
        last = tuple([slice(-1, None) if size == 1 else slice(None) for size in sizes])
        return np.broadcast_to(met[last], shape)
    count = math.prod(shape)
    picked: Array = first.reshape(-1)[Bits(seed, _PICKS).places(first.size, count)].reshape(shape)
    return picked


def _meeting_both(values: Array, first: Array, seed: int) -> Array:
    """Return truth `values`, of which half are inverted if neither they nor those of `first` differ from each other.

    A single truth value, for example, tells and, or and xor apart only if it meets both values.
    """
    if values.all() != values.any() or first.all() != first.any():
        return values
    inverted = values.copy().reshape(-1)
    inverted[Bits(seed, _STREAM).order(values.size) % 2 == 1] ^= True
    return inverted.reshape(values.shape)


def _facing(values: Array, theirs: Array, level: str) -> Array:
    """Return `values` with special numbers, in turn, where the other array has NaN, infinities, zeros and ±1."""
    same, opposite, inf, nan = theirs, -theirs, math.inf, math.nan
    ordinary = (inf, -inf, values) if level == "infinite" else (nan, inf, values, -inf)
    met: tuple[tuple[Array, tuple[Any, ...]], ...] = (
        (np.isnan(theirs), (values, 0.0, inf, same, 1.0, -inf)),
        (theirs == inf, (same, 0.0, values, opposite, 1.0) if level == "infinite" else (nan, 0.0, values)),
        (theirs == -inf, (values, same, opposite, 0.0, 1.0) if level == "infinite" else (nan, 0.0, values)),
        (theirs == 0, ordinary),
        (theirs == 1, ordinary),
        (theirs == -1, ordinary),
    )
    found = values.copy().reshape(-1)
    for places, faces in met:
        reached = np.flatnonzero(places)
        for number, face in enumerate(faces):
            chosen = reached[number :: len(faces)]
            if chosen.size and face is not values:
                found[chosen] = face.reshape(-1)[chosen] if isinstance(face, np.ndarray) else face
    return found.reshape(values.shape)


def _put_zero(values: Array, places: Array) -> None:
    """Put a zero into `values` at the first of the true `places`."""
    values.reshape(-1)[np.flatnonzero(places)[:1]] = 0.0


def _beside_zeros(values: Array, theirs: Array) -> Array:
    """Return `values` with ordinary numbers where both arrays are zero, in every second such place from the first on.

    In arrays of few elements, all of which are zero in this trial, a zero would meet no other number.
    """
    beside = _every_second((values == 0) & (theirs == 0))
    return np.where(beside, np.resize(_ORDINARY, values.shape), values).astype(values.dtype)


def _every_second(places: Array) -> Array:
    """Return a mask of the first of the true `places`, the third, and so on."""
    chosen: Array = places & (np.cumsum(places.reshape(-1)).reshape(places.shape) % 2 == 1)
    return chosen


def _rounded_alike(values: Array, theirs: Array) -> Array:
    """Return `values` with rounded integers where the other array has integers that a float rounds.

    The first two such elements are replaced, then every second one.
    """
    if values.dtype.itemsize < 4:
        return values
    beyond = (theirs > _SINGLE) | (theirs < -_SINGLE)
    if not beyond.any():
        return values
    by_double = (theirs > _DOUBLE) | (theirs < -_DOUBLE)
    # Integers that are too great to be converted back from a float are left alone.
    held = np.where(beyond & (np.abs(theirs.astype(np.float64)) < 2.0**62), theirs, 0)
    rounded = np.where(by_double, held.astype(np.float64).astype(np.int64), held.astype(np.float32).astype(np.int64))
    confused = rounded != held
    chosen = _every_second(confused) | (confused & (np.cumsum(confused.reshape(-1)).reshape(confused.shape) == 2))
    limits = np.iinfo(values.dtype)
    found: Array = np.where(chosen, np.clip(rounded, limits.min, limits.max), values)
    return found


def without_overflow(values: Array, dtype: str, numbers: LevelContents, met: set[str]) -> Array:
    """Return `values` (drawn as `numbers`) changed so that a trial's arrays have the least integer or -1, not both.

    The least integer divided by -1 overflows, which kills the process. `met` records which of the two earlier arrays
    have, and is updated.
    """
    if dtype not in _TRAPPING or not values.size:
        return values
    least, low, high = limits_of(dtype).min, numbers.low, numbers.high
    ones = values == -1
    if (values == least).any():
        if "minus one" in met:
            return np.where(values == least, least + 1, values).astype(values.dtype)
        met.add("least")
    if ones.any() and "least" not in met:
        met.add("minus one")
    elif "least" in met and (low is None or low <= -2):
        values = np.where(ones, -2, values).astype(values.dtype)
    elif "least" in met and (high is None or high > 1):
        values = np.where(ones, 1, values).astype(values.dtype)
    return values


def without_subnormal(values: Array, numbers: LevelContents) -> Array:
    """Return `values` (drawn as `numbers`) with the least normal number of the same sign for each subnormal one.

    The neighbour of zero is subnormal, and therefore special: some frameworks take it for zero.
    """
    if values.dtype.kind != "f":
        return values
    least, magnitude = _least_normal(values.dtype), np.abs(values)
    found = magnitude < least
    # Mostly not even zero is among them. `count_nonzero` takes a tenth of the time of `any` for few elements.
    if not np.count_nonzero(found):
        return values
    found &= magnitude > 0
    if not np.count_nonzero(found):
        return values
    normal = np.copysign(least, values)
    changed: Array = np.where(found & _inside(normal, numbers.low, numbers.high), normal, values)
    return changed


@lru_cache
def _least_normal(dtype: np.dtype[Any]) -> Array:
    """Return the least normal number of a floating dtype. It is cached: NumPy takes longer for it than for an array."""
    return np.array(np.finfo(dtype).tiny)


def with_revealing_row_ends(values: Array, dtype: str, numbers: LevelContents, seed: int) -> Array:
    """Return `values` (drawn as `numbers`) with half of the rows ending in their greatest or their least number.

    Rows are taken along the longest dimension, if that is longer than a block. If a loop over blocks omits the elements
    at the end, a maximum shows it only if the maximum is there. Truth values show it in rows that are equal except for
    the last element.
    """
    longest = max(values.shape, default=0)
    if longest <= VECTOR or not values.size or dtype in COMPLEX:
        return values
    if dtype == "bool" and (alone_at_the_end(numbers.level, numbers.turn) or are_alike(numbers.level, numbers.turn)):
        return values
    alone = numbers.level in _ALONE and values.dtype.kind == "f"  # the last number is already the only special one
    if alone and (numbers.level != "zeros" or numbers.turn % 2):
        return values
    if numbers.level == "zeros" and not values[(0,) * values.ndim] and np.count_nonzero(values) == 1:
        return values  # so is the last one of these integers
    axis = values.ndim - 1 - values.shape[::-1].index(longest)
    moved = values.transpose(*range(axis), *range(axis + 1, values.ndim), axis)
    held = moved.copy().reshape(-1, longest)
    rows = held[: -1 if alone else None]
    turn = Bits(seed, _ENDS).one_below(2)
    if dtype == "bool":  # with both values at the ends, all() and any() along other dimensions would reveal nothing
        true = rows.mean() < 0.5
        rows[turn % len(rows) :: 2] = not true
        rows[turn % len(rows) :: 2, -1] = true
    else:
        few = numbers.level in RELATED and numbers.low is None and numbers.high is None and dtype != "bfloat16"
        # The first two rows get one extreme each. Of four rows, two get one.
        _end_in(rows, turn, "greatest", few=few)
        _end_in(rows, 1 - turn, "least", few=few)
        # A single row has both, the second just before the end. Special numbers stay where they meet those of others.
        if len(rows) == 1 and numbers.level not in NOT_FINITE:
            _end_in(rows[:, :-1], 0, "least" if turn == 0 else "greatest", few=few)
    return np.ascontiguousarray(held.reshape(moved.shape).transpose(*range(axis), -1, *range(axis, values.ndim - 1)))


def _end_in(rows: Array, first: int, extreme: str, *, few: bool) -> None:
    """Move the greatest or least number of every fourth row, from row `first` on, to the end of its row.

    With `few` different numbers, the end gets a number that is one beyond the extreme.
    """
    chosen, flat = rows[first::4], rows.reshape(-1)
    if not len(chosen):
        return
    starts = np.arange(first * rows.shape[1], flat.size, 4 * rows.shape[1])
    places, lasts = starts + (chosen.argmax(1) if extreme == "greatest" else chosen.argmin(1)), chosen[:, -1]
    lasts[:], flat[places] = flat[places], lasts.copy()
    if few and rows.dtype.kind == "f":
        lasts += rows.dtype.type(1 if extreme == "greatest" else -1)
    elif few:
        one, limits = rows.dtype.type(1), np.iinfo(rows.dtype)
        beyond = lasts < limits.max if extreme == "greatest" else lasts > limits.min
        lasts[:] = np.where(beyond, lasts + one if extreme == "greatest" else lasts - one, lasts)


def _next(values: Array, dtype: str) -> Array:
    if dtype in INTEGRAL:
        one, greatest = values.dtype.type(1), limits_of(dtype).max
        following: Array = np.where(values < greatest, values + one, values - one)
        return following
    if dtype == "bfloat16":  # neighbours in bfloat16 are not neighbours in its carrier
        return values
    with np.errstate(all="ignore"):  # the neighbour of the greatest number is infinite
        return np.nextafter(values, values.dtype.type(math.inf))
