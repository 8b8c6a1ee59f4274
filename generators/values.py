"""The numbers of arrays for which a test leaves them open: one kind of numbers for each level of the plan."""

from __future__ import annotations

import dataclasses
import math
import sys
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from generators.contents import Filling, Spec, special_values, uniform
from generators.dtypes import (
    COMPLEX,
    INTEGRAL,
    Array,
    cast,
    float_range,
    integer_range,
    limits_of,
    numpy_dtype,
    part_dtype,
)
from generators.entropy import Bits
from generators.integer_values import FAR_TURN, put_extremes_in_rows, put_in_disorder, whole_numbers
from generators.long_rows import has_long_rows, make_rows_unlike
from generators.mixing import FEW, mixed
from generators.plan import ALL_ZERO

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
#: The greatest finite bound. Numbers with one bound near it reach up to here.
_GREATEST = sys.float_info.max
_NEAR_ZERO = frozenset(("float32", "float64"))
#: Powers of ten of a quarter of the numbers of level ``huge``, in dtypes that reach far beyond. Between wide numbers
#: and the greatest ones a sine reduces its argument otherwise, and a conversion to int32 overflows.
GREAT_DECADES = (4.0, 10.0)
#: Least number of rows for which the last row is masked, and of rows and columns for which the last column is, too.
FEW_ROWS, FEW_COLUMNS = 2, 4
#: Least number of rows for which a whole row is NaN, and for which another one is infinity.
_ROWS_WITH_NAN, _ROWS_WITH_INFINITY = 3, 4
#: By level and turn, the last of truth values that are otherwise all its opposite. Only with such values do all(),
#: any() and counts of a whole array show that a loop omits its last elements.
_LAST = MappingProxyType({"whole 0": True, "whole 1": False, "signed 1": True, "ties 1": False})
#: The share of True among truth values, by level or by level and turn; 0.5 for all others. If one value is rare, all()
#: and any() of rows reveal more.
_SHARES = MappingProxyType(
    {
        "zeros": 0.1,
        "tiny": 0.1,
        "wide": 0.1,
        "unit 1": 0.1,
        "nan 1": 0.2,
        "huge": 0.9,
        "infinite": 0.9,
        "signed 2": 0.9,
        "ties": 0.0,
        "nan": 1.0,
    }
)


@dataclasses.dataclass(slots=True, eq=False)  # not frozen: there is one per open array, and this halves its cost
class LevelContents(Filling):
    """Contents of numbers of the kind `level`, within the test's bounds `low` and `high`; None means no bound.

    If there is a bound, all numbers satisfy it: NaN does not occur, and an infinity only at an open end.
    """

    level: str
    low: float | None = None
    high: float | None = None
    #: Number of earlier trials of the block with this level: rare levels take turns in how many numbers are special.
    turn: int = 0

    def fill(self, bits: Bits, spec: Spec) -> Array:
        dtype = spec.dtype
        count = math.prod(spec.shape)
        boundless = self.low is None and self.high is None
        if dtype == "bool":
            values = _truths(bits, count, self.level, self.turn)
        elif dtype in COMPLEX:
            parts = self.fill(bits, spec._replace(shape=(*spec.shape, 2), dtype=part_dtype(dtype)))
            return np.ascontiguousarray(parts).view(numpy_dtype(dtype)).reshape(spec.shape)
        elif boundless and (self.level, self.turn) == ALL_ZERO:
            values = np.zeros(count, numpy_dtype(dtype))
        elif dtype in INTEGRAL:
            values = whole_numbers(bits, count, dtype, self.level, self.turn, self.whole_bounds(dtype))
            if self.level == "nan" and boundless and len(spec.shape) > 1 and count >= FEW:
                put_in_disorder(values.reshape(-1, spec.shape[-1]), dtype)
            if self.level == "infinite" and boundless and len(spec.shape) > 1 and count:
                put_extremes_in_rows(values.reshape(-1, spec.shape[-1]))
        elif boundless:
            values = _boundless(bits, count, dtype, self.level, self.turn)
            if self.level == "whole" and not self.turn and has_long_rows(spec.shape):
                make_rows_unlike(values.reshape(-1, spec.shape[-1]), dtype)
            if self.level == "infinite" and len(spec.shape) > 1 and count:
                several = len(spec.shape) > 2 and spec.shape[-2] > FEW_ROWS
                _mask(values.reshape(-1, spec.shape[-1]), several=several)
            if self.level == "huge" and len(spec.shape) > 1 and count:
                _make_sum_overflow(values.reshape(-1, spec.shape[-1])[0], dtype)
            if self.level == "nan" and self.turn % 2 and len(spec.shape) > 1 and spec.shape[0] >= _ROWS_WITH_NAN:
                values.reshape(spec.shape[0], -1)[1] = math.nan  # one whole row is NaN, and the others are not
                rows = values.reshape(-1, spec.shape[-1])
                if len(rows) >= _ROWS_WITH_INFINITY:  # a minimum that starts at a great number is wrong there
                    rows[0] = math.inf
            if self.level == "zeros" and self.turn % 2:
                # With several dimensions all numbers but the last are zero: whole rows are, and any() depends on the
                # last number only.
                zeroed = values[: count if len(spec.shape) < 2 else -1]
                zeroed[zeroed != 0] = 0.0
        else:
            values = _bounded(bits, count, dtype, self)
        return values.reshape(spec.shape)

    def whole_bounds(self, dtype: str) -> tuple[int | None, int | None]:
        """Return the first integer and the end (exclusive) that the bounds determine, each None if it is open."""
        limits = limits_of(dtype)
        low, high = self.low, self.high
        if low is None and high is None:
            return None, None
        if low is None:
            # As in torch.randint(high): numbers that have only an upper bound are mostly counts or indices.
            low = 0 if high is not None and high > 0 else limits.min
        if high is None:
            first, _ = integer_range(dtype, low, max(float(limits.max), low + 1))
            return first, None
        return integer_range(dtype, low, high)


def _mask(rows: Array, *, several: bool) -> None:
    """Set the last row to -inf (mask it), and also the last column if there are enough rows and columns.

    Images have at least three dimensions: with `several`, the last two rows are masked, so that whole windows are.
    """
    if len(rows) >= FEW_ROWS:
        rows[-2 if several else -1 :] = -math.inf
    if min(rows.shape) >= FEW_COLUMNS:
        rows[:, -1] = -math.inf
    if rows.size > 1 and not (rows == math.inf).any():  # the mask has overwritten +inf
        rows[0, 0] = math.inf


def _make_sum_overflow(row: Array, dtype: str) -> None:
    """Make the greatest numbers of `row`, or two others if it has fewer, positive: of both signs, they sum to less."""
    least, greatest = (10.0**decade for decade in GREAT_DECADES)
    size = np.abs(row.astype(np.float64))
    places = np.flatnonzero(size > greatest)
    row[places if places.size > 1 else np.flatnonzero(size > least)[:2]] = _among("huge", dtype)[0]


def _truths(bits: Bits, count: int, level: str, turn: int) -> Array:
    values: Array = bits.unit64(count) < _share(level, turn)
    if alone_at_the_end(level, turn):
        last = _LAST[f"{level} {turn}"]
        values[:-1], values[-1:] = not last, last
    return values


def alone_at_the_end(level: str, turn: int) -> bool:
    """Return whether truth values at `level` are all equal except for the last one."""
    return f"{level} {turn}" in _LAST


def are_alike(level: str, turn: int) -> bool:
    """Return whether truth values at `level` are all equal."""
    return _share(level, turn) in (0.0, 1.0) and not alone_at_the_end(level, turn)


def _share(level: str, turn: int) -> float:
    """Return the share of True among truth values."""
    return _SHARES.get(f"{level} {turn}", _SHARES.get(level, 0.5))


def _boundless(bits: Bits, count: int, dtype: str, level: str, turn: int) -> Array:
    if level == "unit":
        return uniform(bits, Spec((count,), dtype, *(FAR if turn == FAR_TURN else (0, 1))))
    if level == "wide":
        return _wide(bits, count, dtype)
    if level == "whole":
        step, steps = (1.0 if turn % 2 else 0.5), 4 * int(REACH) + 1  # up to eight steps on either side of zero
        few = count <= EACH_DECADE  # with few numbers, as few as possible are equal
        wholes = bits.order(max(count, steps))[:count] % steps if few else bits.below(steps, count)
        values = cast((wholes.astype(np.float64) - 2 * REACH) * step, dtype)
        if not few and not turn % 2:
            return _with_some_beside(bits, values, dtype)
        if count >= steps:
            return values
        surely = np.roll([1.0, 0.5, 0.0, -1.0, -0.5, 2.5, 2.0, -1.5], -turn)
        return mixed(bits, values, cast(surely, dtype)) if count else values
    reach = WIDER_REACH if level == "signed" and not bits.one_below(3) else REACH
    near_zero = level == "tiny" and dtype in _NEAR_ZERO
    values = _near_zero(bits, count, dtype) if near_zero else uniform(bits, Spec((count,), dtype, -reach, reach))
    if level == "signed" or not count:
        return values
    if level == "ties":
        return _tied(bits, cast(_NEGATIVE - np.abs(values), dtype) if turn == _NEGATIVE_TURN else values, dtype)
    met = count >= FEW and (level == "infinite" or (level == "nan" and turn % 2 == 1))
    edges = _among(level, dtype, met=met)
    if met:
        # Half or more of the numbers are special, so that each special number meets several of another array's.
        places = bits.some(count, count // 2 if level == "infinite" else 3 * count // 4)
        values[places] = edges[np.arange(len(places)) % len(edges)]
        if level == "nan":
            values[-1] = math.nan  # also among the elements after the last whole block
        return values
    found = mixed(bits, values, edges, turn)
    if level == "huge" and dtype in _NEAR_ZERO:
        _make_great(bits, found)
    return found


@lru_cache(maxsize=64)
def _among(level: str, dtype: str, *, met: bool = False) -> Array:
    """Return the special numbers of `level`, the most revealing first, as a read-only array.

    With `met`, they include numbers that special numbers of another array should meet.
    """
    edges = special_values(dtype)  # NaN, both infinities, -0.0, 0.0, the greatest two, the smallest three
    greatest, normal, subnormal = float(edges[5]), float(edges[7]), float(edges[8])
    # The square of the first is infinite; the exponential of the second is finite, and that of its negative subnormal.
    root, exponent = math.sqrt(greatest) * 2, math.log(greatest) - 0.25
    numbers = {
        "nan": [math.nan, *([0.0, math.inf, 1.0, -math.inf] if met else [])],
        "infinite": [math.inf, -math.inf, *([0.0, 1.0] if met else [])],
        "zeros": [-0.0, 0.0],
        # The second is subnormal, too, but large enough that its product with a great number is not negligible.
        "tiny": [-0.0, 0.75 * normal, subnormal, -subnormal, normal, -normal, math.sqrt(normal)],
        "huge": [greatest, -greatest, root, -root, exponent, -exponent],
    }[level]
    found = cast(np.array(numbers), dtype)
    found.setflags(write=False)
    return found


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


@lru_cache(maxsize=8)
def _neighbours(dtype: str) -> Array:
    """Return the numbers next to halves and whole numbers, as a read-only array.

    An algorithm that rounds by adding a half, for example, rounds up the number just below a half.
    """
    points = np.array([0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0], numpy_dtype(dtype))
    inf = points.dtype.type(math.inf)
    found: Array = np.concatenate([np.nextafter(points, inf), np.nextafter(points, -inf)])
    found.setflags(write=False)
    return found


def _tied(bits: Bits, values: Array, dtype: str) -> Array:
    """Return numbers from a pool of three, two of which are neighbours in `dtype`."""
    pool = values[bits.places(values.size, 3)]
    if dtype != "bfloat16":  # neighbours in bfloat16 are not neighbours in its carrier
        pool[2] = np.nextafter(pool[1], pool.dtype.type(math.copysign(REACH, float(pool[0]))))
    return pool[bits.places(3, values.size)]


def _magnitudes(bits: Bits, count: int, dtype: str) -> Array:
    least, greatest = DECADES
    return cast(10.0 ** (least + (greatest - least) * bits.unit64(count)), dtype)


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


def _bounded(bits: Bits, count: int, dtype: str, numbers: LevelContents) -> Array:
    """Return numbers within the bounds. If one bound is None, they reach up to infinity there. None of them is NaN."""
    level, low, high = numbers.level, numbers.low, numbers.high
    open_end = 0 if high is not None and low is not None else 1 if high is None else -1
    if high is None or low is None:
        low, high = _other_bound(bits, level, low, high)
    least, greatest = float_range(dtype, low, high)
    values = uniform(bits, Spec((count,), dtype, low, high))
    if not count:
        return values
    if open_end and level == "infinite":  # an infinity satisfies the other bound; NaN satisfies none
        return mixed(bits, values, cast(np.array([open_end * math.inf]), dtype), numbers.turn)
    if level == "wide":
        # Add magnitudes to the bound that is nearer to zero, and keep the sums that are within both bounds.
        near = low if abs(low) <= abs(high) else high
        steps = _magnitudes(bits, count, "float64") * (1 if near == low else -1)
        with np.errstate(over="ignore"):  # a sum beyond the dtype's greatest number is not within them
            found = cast(near + steps, dtype)
        return np.where((found >= least) & (found <= greatest), found, values)
    if level == "whole" and math.isfinite(2 * least) and math.isfinite(2 * greatest):
        first, last = math.ceil(2 * least), math.floor(2 * greatest)
        if last - first >= 1:
            return cast((first + bits.below(min(last - first + 1, 1 << 20), count).astype(np.float64)) / 2, dtype)
        return values
    if level == "ties":
        tied = _tied(bits, values, dtype)
        return np.clip(tied, tied.dtype.type(least), tied.dtype.type(greatest))
    edges = [least, greatest]
    if low <= 0 < high and level in ("zeros", "tiny"):
        edges = [one for one in _among(level, dtype).tolist() if low <= one < high]
    special = level in ("zeros", "tiny", "huge")
    return mixed(bits, values, cast(np.array(edges), dtype), numbers.turn) if special else values


def _other_bound(bits: Bits, level: str, low: float | None, high: float | None) -> tuple[float, float]:
    reach = {"unit": 1.0, "wide": 10.0 ** DECADES[1], "huge": 10.0 ** DECADES[1]}.get(level, 2 * REACH)
    if low is not None:  # the range above a negative bound includes positive numbers
        return low, min(max(low + max(reach, abs(low) * reach * 0.5), -low), _GREATEST)
    assert high is not None
    return max(min(high - max(reach, abs(high) * reach * 0.5), -high), -_GREATEST), high
