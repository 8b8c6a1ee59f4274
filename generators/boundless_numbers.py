"""Floating-point numbers without bounds: one kind of numbers for each level of the plan."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from generators.contents import Spec, special_values, uniform
from generators.dtypes import Array, cast, numpy_dtype
from generators.entropy import Bits
from generators.integer_values import FAR_TURN
from generators.mixing import FEW, mixed

#: Half the width of the default range of floats. It reaches past 1 on both sides, where many functions change their
#: behaviour, and `exp` of all its numbers is finite.
REACH = 4.0
#: The same in a third of the arrays of level ``signed``: many functions have a separate, linear branch for this range.
WIDER_REACH = 12.0
#: Range of numbers with relatively small differences: a variance computed from sums of squares is only rounding error,
#: and `exp` is still finite. Level ``unit`` uses it instead of [0, 1) at turn `FAR_TURN`.
FAR = (64.0, 65.0)
#: The turn of level ``ties`` in which all numbers are negative: a maximum that starts at zero is wrong only then. They
#: are far enough below zero that their neighbours are negative, too.
_NEGATIVE_TURN, _NEGATIVE = 1, -1.0
#: Powers of ten of the least and the greatest magnitude of wide numbers.
DECADES = (-4.0, 4.0)
#: The upper ends of the decades from which some wide numbers are always drawn, and the signs of these numbers.
_SURE, _SURE_SIGNS = (DECADES[1], DECADES[1], DECADES[1] - 1, DECADES[0] + 1), (1, -1, 1, -1)
#: Greatest count for which wide numbers are spread evenly over the decades. More numbers cover each decade anyway.
EACH_DECADE = 64
#: Powers of ten of numbers near zero, which keep few digits in exp(x) - 1 or 1 + x; and the dtypes whose smallest
#: numbers are still far below these.
SMALL_DECADES = (-9.0, -5.0)
#: Powers of ten of the relative distances of some numbers from a whole number or a half: a logarithm keeps few digits
#: near 1, the domain of acos ends there, and rounding decides by the last digits near a half.
BESIDE_DECADES = (-7.0, -1.0)
_NEAR_ZERO = frozenset(("float32", "float64"))
#: Powers of ten of a quarter of the numbers of level ``huge``, in dtypes that reach far beyond. Between wide numbers
#: and the greatest ones a sine reduces its argument otherwise, and a conversion to int32 overflows.
GREAT_DECADES = (4.0, 10.0)
#: Least count of numbers among which there is room for two special ones.
_SEVERAL = 4


def boundless_numbers(bits: Bits, count: int, dtype: str, level: str, turn: int) -> Array:
    """Return `count` numbers of `dtype` of the trial that is number `turn` of its block at `level`."""
    if level == "unit":
        return uniform(bits, Spec((count,), dtype, *(FAR if turn == FAR_TURN else (0, 1))))
    if level == "wide":
        return _wide(bits, count, dtype)
    if level == "whole":
        step, steps = (1.0 if turn % 2 else 0.5), 4 * int(REACH) + 1  # up to eight steps on either side of zero
        few = count <= EACH_DECADE  # with few numbers, as few as possible are equal
        order = bits.order(max(count, steps))[:count] if few else bits.below(steps, count)
        wholes = ((order % steps).astype(np.float64) - 2 * REACH) * step
        if turn % 2:  # of equal numbers other than zero, one is a half more, because rounding decides at halves
            wholes[(order >= steps) & (wholes != 0)] += 0.5
        values = cast(wholes, dtype)
        if not few and not turn % 2:
            return _with_some_beside(bits, values, dtype)
        if count >= steps:
            return _with_neighbours(bits, values, _neighbours(dtype)) if dtype == "float64" else values
        surely = np.roll([1.0, 0.5, 0.0, -1.0, -0.5, 2.5, 2.0, -1.5], -turn)
        return mixed(bits, values, cast(surely, dtype)) if count else values
    reach = WIDER_REACH if level == "signed" and not bits.one_below(3) else REACH
    near_zero = level == "tiny" and dtype in _NEAR_ZERO
    values = _near_zero(bits, count, dtype) if near_zero else uniform(bits, Spec((count,), dtype, -reach, reach))
    if level == "signed" or not count:
        return values
    if level == "ties":
        if turn != _NEGATIVE_TURN:
            return tied_numbers(bits, values, dtype)
        tied = tied_numbers(bits, cast(_NEGATIVE - np.abs(values), dtype), dtype)
        if dtype != "float64" or count <= EACH_DECADE:
            return tied
        found = -np.abs(_neighbours(dtype))
        return _with_neighbours(bits, tied, found[found < _NEGATIVE - 0.25])
    met = count >= FEW and (level == "infinite" or (level == "nan" and turn % 2 == 1))
    edges = among(level, dtype, met=met)
    if count < _SEVERAL:
        edges = _only_one(level, turn, edges)
    if met:
        # Half or more of the numbers are special, so that each special number meets several of another array's.
        places = bits.some(count, count // 2 if level == "infinite" else 3 * count // 4)
        values[places] = edges[np.arange(len(places)) % len(edges)]
        if level == "nan":
            values[-1] = math.nan  # also among the elements after the last whole block
        return values
    found = mixed(bits, values, edges, turn)
    if level == "nan" and count >= FEW:
        # A window may not reach the last number. The first numbers stay ordinary, or become infinite.
        found[count // 4 + bits.one_below(count // 2)] = math.nan
    if level == "huge" and dtype in _NEAR_ZERO:
        _make_great(bits, found)
    return found


@lru_cache(maxsize=64)
def among(level: str, dtype: str, *, met: bool = False) -> Array:
    """Return the special numbers of `level`, the most revealing first, as a read-only array.

    With `met`, they include numbers that special numbers of another array should meet.
    """
    edges = special_values(dtype)  # NaN, both infinities, -0.0, 0.0, the greatest two, the smallest three
    greatest, normal, subnormal = float(edges[5]), float(edges[7]), float(edges[8])
    # The square of the first is infinite; the exponential of the second is finite, and that of its negative subnormal.
    root, exponent = math.sqrt(greatest) * 2, math.log(greatest) - 0.25
    numbers = {
        "nan": [math.nan, *([0.0, math.inf, 1.0, -math.inf] if met else [])],
        "infinite": [math.inf, -math.inf, *([0.0, 1.0, -1.0] if met else [])],
        "zeros": [-0.0, 0.0],
        # The second is subnormal, too, but large enough that its product with a great number is not negligible.
        "tiny": [-0.0, 0.75 * normal, subnormal, -subnormal, normal, -normal, math.sqrt(normal)],
        "huge": [greatest, -greatest, root, -root, exponent, -exponent],
    }[level]
    found = cast(np.array(numbers), dtype)
    found.setflags(write=False)
    return found


def _only_one(level: str, turn: int, edges: Array) -> Array:
    """Return the one of `edges` that an array with room for a single special number has at `level`.

    It is not left to chance, so that a single number is each of them within the twenty trials of a test.
    """
    if level == "nan" and turn % 2:
        return np.array([-math.inf], edges.dtype)  # level ``infinite`` has one trial for two infinities
    if level == "infinite" or (level == "zeros" and turn % 2 == 0):
        return edges[:1]
    return edges[1:2] if level == "tiny" else edges  # -0.0 has the trial of ``zeros``


def _with_some_beside(bits: Bits, values: Array, dtype: str) -> Array:
    """Return `values` with an eighth of them changed: moved by a relative distance, or replaced by `_neighbours`."""
    least, greatest = BESIDE_DECADES
    places = bits.some(values.size, values.size // 8)
    signs = bits.signed_half_words(places.size)
    distances = np.copysign(10.0 ** (least + (greatest - least) * bits.unit64(places.size)), signs)
    moved = cast(values[places] * (1 + distances), dtype)
    if dtype != "bfloat16":  # neighbours in bfloat16 are not neighbours in its carrier
        moved[::2] = np.resize(_neighbours(dtype), moved[::2].shape)
    values[places] = moved
    return values


def _with_neighbours(bits: Bits, values: Array, neighbours: Array) -> Array:
    """Return `values` of double precision with each of some `neighbours` of whole numbers and halves among them.

    A loop for doubles that converts to single precision takes these for whole numbers and halves.
    """
    places = bits.some(values.size, max(neighbours.size // 2, min(values.size // 16, EACH_DECADE)))
    values[places] = np.resize(neighbours, places.size)
    return values


@lru_cache(maxsize=8)
def _neighbours(dtype: str) -> Array:
    """Return the numbers next to halves and whole numbers, the most revealing first, as a read-only array.

    An algorithm that rounds by adding a half, for example, rounds up the number just below a half.
    """
    points = np.array([0.5, 1.0, -1.0, 1.5, -0.5, 2.0, -1.5, -2.0], numpy_dtype(dtype))
    inf = points.dtype.type(math.inf)
    found: Array = np.stack([np.nextafter(points, -inf), np.nextafter(points, inf)], axis=1).reshape(-1)
    found.setflags(write=False)
    return found


def tied_numbers(bits: Bits, values: Array, dtype: str) -> Array:
    """Return numbers from a pool of three, two of which are neighbours in `dtype`."""
    pool = values[bits.places(values.size, 3)]
    if dtype != "bfloat16":  # neighbours in bfloat16 are not neighbours in its carrier
        pool[2] = np.nextafter(pool[1], pool.dtype.type(math.copysign(REACH, float(pool[0]))))
    return pool[bits.places(3, values.size)]


def _near_zero(bits: Bits, count: int, dtype: str) -> Array:
    """Return numbers of both signs that are so small that 1 + x loses many of their digits."""
    least, greatest = SMALL_DECADES
    signs = bits.signed_half_words(count)
    return cast(np.copysign(10.0 ** (least + (greatest - least) * bits.unit64(count)), signs), dtype)


def _make_great(bits: Bits, values: Array) -> None:
    """Replace a quarter of `values`, all of them ordinary, by magnitudes spread evenly over `GREAT_DECADES`."""
    least, greatest = GREAT_DECADES
    ordinary = np.flatnonzero(np.abs(values) <= REACH)
    places = ordinary[bits.order(ordinary.size)[: values.size // 4]]
    exponents = least + (greatest - least) * (np.arange(places.size) + 1) / max(places.size, 1)
    values[places] = np.copysign(10.0**exponents, values[places])


def _wide(bits: Bits, count: int, dtype: str) -> Array:
    """Return numbers of both signs with magnitudes from all `DECADES`.

    Even a few numbers include one of each sign from the last decade, then one from the decade before it, and one from
    the first. If there are few, the others are spread evenly over the decades, which leaves no large gaps.
    """
    least, greatest = DECADES
    unit = bits.unit64(count)
    sure = len(_SURE) if count > 1 else 0
    if count <= EACH_DECADE:
        order = bits.order(count)
        surely, others = order[:sure], order[sure:]
        exponents = np.empty(count)
        exponents[others] = least + (greatest - least) * (np.arange(len(others)) + unit[others]) / max(len(others), 1)
    else:
        surely = bits.some(count, sure)
        exponents = least + (greatest - least) * unit
    signs = bits.signed_half_words(count)
    exponents[surely] = _SURE[: len(surely)] - unit[surely]
    signs[surely] = _SURE_SIGNS[: len(surely)]
    return cast(np.copysign(10.0**exponents, signs), dtype)
