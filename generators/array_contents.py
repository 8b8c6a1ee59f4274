"""The contents of an array of the current trial: numbers that the plan chooses, or those that a test names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from generators.boundless_numbers import REACH
from generators.contents import Filling, Spec, array_from, check_contents
from generators.dtypes import FLOATING, INTEGRAL, Array, limits_of, numpy_dtype
from generators.entropy import Bits
from generators.errors import is_test_mistake
from generators.exploration import Exploration
from generators.integer_values import WHOLE_REACH
from generators.levels import ALL_ZERO
from generators.long_rows import put_nan
from generators.open_arguments import ArrayArguments, are_spread
from generators.open_sizes import open_axes
from generators.related_numbers import (
    NOT_FINITE,
    RELATED,
    are_equal,
    converted,
    related,
    sharing,
    with_revealing_row_ends,
    without_overflow,
    without_subnormal,
)
from generators.shapes import Shape
from generators.trial_features import TrialFeatures
from generators.values import LevelContents, has_unlike_rows

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake


class ArrayContents:
    """The contents of one array of a trial.

    Args:
        exploration: the common state of the arrays of the trial.
        number: the index of the array in its trial.
        asked: the arguments of the array.
        dtype: the dtype of the array.
        shape: the shape of the array.

    Attributes:
        shape: the shape of the array: open sizes are smaller if there are not enough different numbers.
        may_repeat: whether the numbers may repeat along a dimension, as those of an expanded array do.

    Raises:
        GeneratorError: if there are no such contents.
    """

    __slots__ = ("_dtype", "_exploration", "may_repeat", "shape")

    may_repeat: bool

    def __init__(self, exploration: Exploration, number: int, asked: ArrayArguments, dtype: str, shape: Shape) -> None:
        self._exploration, self._dtype, self.shape = exploration, dtype, shape

    def array(self, shape: Shape, seed: int) -> Array:
        """Return an array of `shape` with these contents, which the 64-bit `seed` determines."""
        raise NotImplementedError


class OpenNumbers(ArrayContents):
    """Numbers that the plan chooses, related to the earlier arrays of the trial so that together they reveal more."""

    __slots__ = ("_has_nan", "_numbers")

    def __init__(self, exploration: Exploration, number: int, asked: ArrayArguments, dtype: str, shape: Shape) -> None:
        super().__init__(exploration, number, asked, dtype, shape)
        is_open = asked.shape is None and not asked.dims and (number > 0 or asked.ndim is None)
        self._numbers = _open_numbers(
            exploration.features, number, asked.low, asked.high, is_single=not shape, is_open=is_open
        )
        #: Whether the first array of the trial with long rows has a NaN: its level is not special.
        self._has_nan = (
            not number and has_unlike_rows(self._numbers, shape) and exploration.features.source.special_values
        )
        # At level ``zeros`` one number differs from all others, or the array is equal to the first one.
        # The truth values of a second row or column must be able to differ, too, see `related`.
        is_row = bool(number) and dtype == "bool" and sum(size > 1 for size in shape) == 1
        self.may_repeat = self._numbers.level != "zeros" and not is_row

    def array(self, shape: Shape, seed: int) -> Array:
        exploration, numbers, dtype = self._exploration, self._numbers, self._dtype
        special = exploration.features.source.special_values
        values = numbers.fill(Bits(seed), Spec(shape, dtype))
        values = values if special else without_subnormal(values, numbers)
        if exploration.has_array_of(dtype):
            first = exploration.first_of(dtype, values)
            if are_equal(shape, first, numbers):
                return first.copy()
            values = related(values, first, dtype, numbers, seed)
            if numbers.level not in NOT_FINITE:  # special numbers stay where they meet those of the first array
                values = self._revealing(values, seed)
        else:
            first = exploration.first_of(dtype, self._revealing(values, seed))
            if self._has_nan and first.dtype.kind == "f":
                put_nan(first)
            other = exploration.first_of_another(dtype)
            values = first if other is None else self._revealing(converted(values, other, numbers, seed), seed)
        if not special and values is not first:  # in `first` there are none any more
            values = without_subnormal(values, numbers)
        return without_overflow(values, dtype, numbers, exploration.divided)

    def _revealing(self, values: Array, seed: int) -> Array:
        return with_revealing_row_ends(values, self._dtype, self._numbers, seed)


class GivenContents(ArrayContents):
    """Contents that a test names. Sorted numbers may share some with the first array of the trial."""

    __slots__ = ("_asked", "_bounds", "_filling", "_number")

    def __init__(self, exploration: Exploration, number: int, asked: ArrayArguments, dtype: str, shape: Shape) -> None:
        super().__init__(exploration, number, asked, dtype, shape)
        filling = check_contents(asked.contents)
        source = exploration.features.source
        self._filling = filling.drawn(source) if isinstance(filling, Filling) else filling
        self._number, self._asked = number, asked
        self._bounds = least, greatest = _range(dtype, asked.low, asked.high, math.prod(shape))
        distinct = isinstance(asked.contents, str) and asked.contents == "distinct"
        if distinct and asked.shape is None:
            self.shape = _of_at_most(shape, asked.dims, _different(dtype, least, greatest))
        self.may_repeat = not are_spread(asked.contents)

    def array(self, shape: Shape, seed: int) -> Array:
        asked, dtype = self._asked, self._dtype
        values = array_from(Spec(shape, dtype, *self._bounds, self._filling), seed)
        first = self._exploration.first_of(dtype, values)
        if asked.contents == "sorted" and first is not values and self._level() in RELATED:
            values = sharing(values, first, dtype, asked.low, asked.high, seed)
        return values

    def _level(self) -> str:
        return self._exploration.features.level("values", self._number)


def _open_numbers(
    features: TrialFeatures, number: int, low: Any, high: Any, *, is_single: bool, is_open: bool
) -> LevelContents:
    """Return the numbers, at least `low` and below `high`, that the plan chose for array `number` of the trial.

    `is_single` tells whether the array has rank 0, and `is_open` whether the test leaves its whole shape open; the
    rank of a later array does not count.
    """
    level, turn = features.level("values", number), features.turn("values")
    # A single number that is zero says little among arrays, and the trial in which all numbers are zero has one, too.
    level = "signed" if level == "zeros" and is_single and is_open else level
    # If the rank is open, the first array of the trial in which all numbers are zero is a single number, and if it has
    # truth values a single one that is true. Those of the next one are not zero: no other trial has this and an array.
    if number and (level, turn) == ALL_ZERO and is_open:
        turn = 0
    return LevelContents(level, low, high, turn)


def _range(dtype: str, low: Any, high: Any, count: int) -> tuple[Any, Any]:
    """Return bounds for contents that the test names, which need some. By default they are as wide as open ones."""
    reach = max(WHOLE_REACH, count) + 1 if dtype in INTEGRAL else REACH
    least = low if low is not None else -reach if high is None else high - 2 * reach
    if dtype in INTEGRAL and low is None and (dtype == "uint8" or (high is not None and high > 0)):
        least = 0
    if dtype in INTEGRAL:
        limits = limits_of(dtype)
        if low is None:
            least = max(least, limits.min)
        return least, high if high is not None else min(least + 2 * reach, limits.max + 1)
    return least, high if high is not None else least + 2 * reach


def _different(dtype: str, low: float, high: float) -> float:
    """Return how many values of `dtype` between the bounds are surely different if they are spread evenly."""
    if dtype in INTEGRAL:
        return math.ceil(high) - math.ceil(low)
    if dtype not in FLOATING:
        return math.inf
    with np.errstate(all="ignore"):  # a bound past the dtype's greatest number is infinite, and its step NaN
        step = float(np.spacing(numpy_dtype(dtype).type(max(abs(low), abs(high)))))
    if dtype == "bfloat16":  # it has 16 bits of fraction fewer than its carrier
        step *= 2.0**16
    # Each is drawn from the middle half of its part of the range: some are only half a part apart.
    return (high - low) / (2 * step)


def _of_at_most(shape: Shape, dims: Sequence[Any], count: float) -> Shape:
    """Return `shape` with open sizes reduced as far as necessary to have at most `count` elements."""
    sizes = [*shape]
    free = open_axes(shape, dims)
    while free and math.prod(sizes) > count and max(sizes[axis] for axis in free) > 1:
        largest = max(free, key=lambda axis: sizes[axis])
        sizes[largest] = (sizes[largest] + 1) // 2
    return tuple(sizes)
