"""The numbers of integral arrays for which a test leaves them open: one kind of numbers for each level of the plan."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from generators.contents import Spec, uniform
from generators.dtypes import Array, limits_of, numpy_dtype
from generators.entropy import Bits
from generators.errors import BadBounds
from generators.mixing import FEW, mixed

#: Half the width of the default range of integers.
WHOLE_REACH = 9
#: The turn of level ``unit`` that has numbers far from zero.
FAR_TURN = 2
#: Numbers of bits of the integral dtypes for which these are the upper half of its range. Not 32: so many bytes may be
#: available if the number is a count, but allocating them is not worthwhile.
_FAR_BITS = (8, 16, 64)
#: By dtype, an integer and the one below it that are equal as float32 (int32) or as float32 and float64 (int64).
_CONFUSED = MappingProxyType({"int32": (2**24 + 1, 2**24), "int64": (2**53 + 1, 2**53)})


def whole_numbers(
    bits: Bits, count: int, dtype: str, level: str, turn: int, bounds: tuple[int | None, int | None]
) -> Array:
    """Return integers of the kind `level`, from the first of `bounds` to before the second; None means no bound.

    `turn` is the number of earlier trials of the block with this level.
    """
    first, end = bounds
    limits = limits_of(dtype)
    if end is None:
        least = limits.min if first is None else first
        if level in ("huge", "infinite", "nan"):
            return _extremes(bits, count, dtype, level, turn, least)
        if level == "wide":
            return _whole_magnitudes(bits, count, dtype, least)
        start, stop = _reach(level) if first is None else (first, first + WHOLE_REACH + 1)
        if first is None and level == "unit" and turn == FAR_TURN and limits.bits in _FAR_BITS:
            # A sum of these overflows twice as many bits, and a minimum that starts at the greatest int32 is wrong.
            start, stop = int(limits.max) // 2, int(limits.max)
        elif first is None and level == "unit" and turn == FAR_TURN:
            start = 1  # a minimum that starts at zero is wrong only if none is zero
        # Without a lower bound the greatest number is left to the extreme levels.
        start, stop = max(start, limits.min), min(stop, limits.max if first is None else limits.max + 1)
        if start >= stop:  # the level has negative numbers, and the dtype is unsigned
            start, stop = 0, WHOLE_REACH + 1
    else:
        assert first is not None
        start, stop = first, end
    if start >= stop:
        raise BadBounds(f"expected a whole number of {dtype} from {start} to before {stop}, and there is none")
    values = uniform(bits, Spec((count,), dtype, start, stop))
    if not count:
        return values
    if level == "zeros" and turn % 2 and first is None and end is None:
        # As among floats, any() depends on the last number alone. A part of its bits does not show that it is not zero.
        values[:-1], values[-1] = 0, _halved(limits.bits)
        return values
    if level == "ties":
        pool = values[bits.places(count, 2)]
        return pool[bits.places(2, count)]
    if level == "zeros" and start <= 0 < stop:
        return mixed(bits, values, np.array([0], values.dtype))
    if level in ("huge", "nan") and end is not None:
        return mixed(bits, values, np.array([start, stop - 1], values.dtype))
    return values


def _reach(level: str) -> tuple[int, int]:
    if level == "unit":
        return 0, WHOLE_REACH + 1
    if level == "whole":
        return -2, 3
    return (-WHOLE_REACH, 0) if level == "tiny" else (-WHOLE_REACH, WHOLE_REACH + 1)


def _extremes(bits: Bits, count: int, dtype: str, level: str, turn: int, least: int) -> Array:
    """Return ordinary integers mixed with the least and the greatest, or with integers that a float rounds."""
    limits = limits_of(dtype)
    start = max(least, limits.min, -WHOLE_REACH)
    values = uniform(bits, Spec((count,), dtype, start, min(start + 2 * WHOLE_REACH, limits.max + 1)))
    ends = [limits.min, limits.max] if level == "huge" else [limits.max, limits.min]
    edges = [*ends, -1, 0, 1, limits.min + 1, limits.max - 1]
    alike = [limits.max, limits.max - 1]  # equal as floats
    if level == "nan":  # integers that float32 and float64 round, and those that need more than 32 bits
        above = [2**53 + 1, 2**24 + 1, 2**24 + 5]  # a float rounds them towards zero
        below = [-edge for edge in above]
        above += [2**24]
        alike = [2**53 + 1, 2**53] if limits.max > 2**53 else [2**24 + 1, 2**24]
        edges = [*(below + above if turn % 2 else above + below), -(2**31) - 1, 2**31]
        # Not 2**31 where it may be a count: that much memory may be available, but allocating it is not worthwhile.
        edges = edges[:-1] if least >= 0 or count < WHOLE_REACH else edges
    held = [edge for edge in edges if max(least, limits.min) <= edge <= limits.max] or [limits.max]
    if not count:
        return values
    found = mixed(bits, values, np.array(held, values.dtype))
    if count >= FEW and not turn % 2 and limits.max > 2**24 and alike[-1] >= least:
        at = bits.one_below(count - 1)
        found[at : at + 2] = alike  # side by side, the greater first: as floats they seem to be in order
    return found


def _whole_magnitudes(bits: Bits, count: int, dtype: str, least: int) -> Array:
    limits = limits_of(dtype)
    most = int(limits.max).bit_length() - 1
    sizes = np.exp2(most * bits.unit64(count)).astype(np.int64)
    first = max(least, limits.min)
    # Without negative numbers all are positive: clipped, half of them would be the least one.
    drawn = np.where((bits.signed_half_words(count) < 0) & (first < 0), -sizes, sizes)
    clipped: Array = np.clip(drawn, first, limits.max)
    if count > 1:  # none is zero, so that all() depends on whether the last one is taken for zero
        clipped[-1] = max(_halved(limits.bits), least)
    return clipped.astype(numpy_dtype(dtype))


def _halved(bits: int) -> int:
    """Return an integer whose lower half of `bits` is zero, so that its upper half alone tells it from 0."""
    return 1 << bits // 2


def put_in_disorder(rows: Array, dtype: str) -> None:
    """Put two integers, equal as floats, into the first two rows in both orders: no sort of floats orders both rows."""
    pair = _CONFUSED.get(dtype)
    if pair is not None and min(rows.shape) > 1:
        rows[0, :2], rows[1, :2] = pair, pair[::-1]


def put_extremes_in_rows(rows: Array) -> None:
    """Make the first of three or more rows the greatest integer and the last one the least.

    A minimum or maximum that starts at an extreme of another dtype is wrong only in such rows.
    """
    if len(rows) > 2:
        limits = np.iinfo(rows.dtype)
        rows[0], rows[-1] = limits.max, limits.min
