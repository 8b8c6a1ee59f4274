"""The numbers of arrays for which a test leaves them open: one kind of numbers for each level of the plan."""

from __future__ import annotations

import dataclasses
import math
import sys
from functools import lru_cache

import numpy as np

from generators.boundless_numbers import DECADES, GREAT_DECADES, REACH, among, boundless_numbers, tied_numbers
from generators.contents import Filling, Spec, uniform
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
from generators.integer_values import put_extremes_in_rows, put_in_disorder, whole_numbers
from generators.levels import ALL_ZERO
from generators.long_rows import has_long_rows, make_rows_unlike
from generators.mixing import FEW, mixed
from generators.shapes import Shape
from generators.truth_values import truth_values

#: The greatest finite bound. Numbers with one bound near it reach up to here.
_GREATEST = sys.float_info.max
#: Least number of rows for which the last row is masked, and of rows and columns for which the last column is, too.
FEW_ROWS, FEW_COLUMNS = 2, 4
#: The levels at which some numbers between bounds are the bounds themselves, or numbers next to zero.
_OF_EDGES = frozenset(("zeros", "tiny", "huge"))
#: Least number of rows for which a whole row is NaN, and for which another one is infinity.
_ROWS_WITH_NAN, _ROWS_WITH_INFINITY = 3, 4


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
            values = truth_values(bits, count, self.level, self.turn)
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
            values = boundless_numbers(bits, count, dtype, self.level, self.turn)
            if count:
                self._arrange(values, spec.shape, dtype)
        else:
            values = _bounded(bits, count, dtype, self)
        return values.reshape(spec.shape)

    def _arrange(self, values: Array, shape: Shape, dtype: str) -> None:
        """Change whole rows of `values`, or all numbers but one, in place, where the level and its turn need it."""
        level, turn, has_rows = self.level, self.turn, len(shape) > 1
        rows = values.reshape(-1, shape[-1] if shape else 1)
        if has_unlike_rows(self, shape):
            make_rows_unlike(rows, dtype)
        elif level == "infinite" and has_rows:
            _mask(rows, several=len(shape) > 2 and shape[-2] > FEW_ROWS)
        elif level == "huge" and has_rows:
            _make_sum_overflow(rows[0], dtype)
        elif level == "nan" and has_rows:
            if turn % 2 and shape[0] >= _ROWS_WITH_NAN:
                values.reshape(shape[0], -1)[1] = math.nan  # one whole row is NaN, and the others are not
            if len(rows) >= _ROWS_WITH_INFINITY:  # a minimum that starts at a great number is wrong there
                rows[0] = math.inf
        elif level == "zeros" and turn % 2:
            # With several dimensions all numbers but the last are zero: whole rows are, and any() depends on the last
            # number only.
            zeroed = values[: -1 if has_rows else None]
            zeroed[zeroed != 0] = 0.0

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


def has_unlike_rows(numbers: LevelContents, shape: Shape) -> bool:
    """Return whether the rows of an array of `numbers` differ in kind, as in one trial with long rows."""
    boundless = numbers.low is None and numbers.high is None
    return boundless and numbers.level == "whole" and not numbers.turn and has_long_rows(shape)


def _mask(rows: Array, *, several: bool) -> None:
    """Set the last row to -inf (mask it); with enough rows and columns also the last column, and a row but one number.

    Images have at least three dimensions: with `several`, the last two rows are masked, so that whole windows are.
    """
    if len(rows) >= FEW_ROWS:
        rows[-2 if several else -1 :] = -math.inf
    if min(rows.shape) >= FEW_COLUMNS:
        rows[:, -1] = -math.inf
        rows[0, 1:3] = 1.0, -1.0  # the masks have overwritten what meets infinities of another array
        rows[1, 0], rows[1, 1:] = 0.0, -math.inf  # as a causal mask leaves of its first row
    if rows.size > 1 and not (rows == math.inf).any():  # the mask has overwritten +inf
        rows[0, 0] = math.inf


def _make_sum_overflow(row: Array, dtype: str) -> None:
    """Make the greatest numbers of `row`, or two others if it has fewer, positive: of both signs, they sum to less."""
    least, greatest = (10.0**decade for decade in GREAT_DECADES)
    size = np.abs(row.astype(np.float64))
    places = np.flatnonzero(size > greatest)
    row[places if places.size > 1 else np.flatnonzero(size > least)[:2]] = among("huge", dtype)[0]


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
            found = cast(float(near) + steps, dtype)  # an integer of more than 64 bits would make Python objects
        return np.where((found >= least) & (found <= greatest), found, values)
    if level == "whole" and math.isfinite(2 * least) and math.isfinite(2 * greatest):
        first, last = math.ceil(2 * least), math.floor(2 * greatest)
        if last - first >= 1:
            steps = bits.below(min(last - first + 1, 1 << 20), count).astype(np.float64)
            return cast((float(first) + steps) / 2, dtype)
        return values
    if level == "ties":
        tied = tied_numbers(bits, values, dtype)
        return np.clip(tied, tied.dtype.type(least), tied.dtype.type(greatest))
    return mixed(bits, values, _edges(level, dtype, low, high), numbers.turn) if level in _OF_EDGES else values


@lru_cache(maxsize=1024)
def _edges(level: str, dtype: str, low: float, high: float) -> Array:
    """Return the numbers in [low, high) that arrays of `level` have more often than others, as a read-only array."""
    edges: list[float] = [*float_range(dtype, low, high)]
    if low <= 0 < high and level != "huge":
        edges = [one for one in among(level, dtype).tolist() if low <= one < high]
    found = cast(np.array(edges), dtype)
    found.setflags(write=False)
    return found


def _other_bound(bits: Bits, level: str, low: float | None, high: float | None) -> tuple[float, float]:
    reach = {"unit": 1.0, "wide": 10.0 ** DECADES[1], "huge": 10.0 ** DECADES[1]}.get(level, 2 * REACH)
    if low is not None:  # the range above a negative bound includes positive numbers
        return low, min(max(low + max(reach, abs(low) * reach * 0.5), -low), _GREATEST)
    assert high is not None
    return max(min(high - max(reach, abs(high) * reach * 0.5), -high), -_GREATEST), high


def _magnitudes(bits: Bits, count: int, dtype: str) -> Array:
    least, greatest = DECADES
    return cast(10.0 ** (least + (greatest - least) * bits.unit64(count)), dtype)
