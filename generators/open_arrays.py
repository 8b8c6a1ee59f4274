"""Draws arrays whose shape, dtype, numbers and layout a test may leave open: by the plan, then at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from generators.arrays import Drawn
from generators.boundless_numbers import REACH
from generators.code_position import call_site, location
from generators.contents import Filling, Spec, array_from, check_contents
from generators.core import Generator
from generators.dtypes import FLOATING, INTEGRAL, Array, dtype_name, float_range, limits_of, numpy_dtype
from generators.entropy import Bits
from generators.errors import BadBounds, GeneratorError, is_test_mistake
from generators.exploration import Exploration
from generators.fixed_arrays import fixed_array
from generators.integer_values import WHOLE_REACH
from generators.layouts import check_layout, fitting
from generators.levels import ALL_ZERO
from generators.open_arguments import are_indices, are_spread, check_bounds, check_consistent
from generators.open_layouts import open_expanded_dim, open_layout
from generators.open_sizes import all_open, open_axes
from generators.related_numbers import (
    NOT_FINITE,
    RELATED,
    are_equal,
    converted,
    related,
    sharing,
    with_revealing_row_ends,
    without_overflow,
)
from generators.shapes import Shape, given_shape
from generators.source import current
from generators.strategies import are_plain, as_generator
from generators.trial_features import TrialFeatures, is_large
from generators.values import LevelContents

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake


_OF_LEVEL = MappingProxyType({"single": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16"})
_HALF = frozenset(("float16", "bfloat16"))


def explored_array(
    ndim: Any = None,
    dims: Sequence[Any] = (),
    *,
    shape: Any = None,
    dtype: Any = None,
    low: Any = None,
    high: Any = None,
    contents: Any = None,
    layout: Any = None,
) -> Drawn:
    """Return an array of the current trial.

    The arguments are those of `random_array`, each a value or a generator. An argument that is None is open: the plan
    determines it. An open dtype is float32 or float64, and from trial `THOROUGH` on also float16 or bfloat16.

    Raises:
        GeneratorError: if arguments contradict each other. The message has the line of the caller.
        BadBounds: if there is no value between `low` and `high`. The message has the line of the caller.
    """
    source = current()
    if type(contents) is type(layout) is str and contents == "uniform" and layout == "contiguous" and shape is None:
        fixed = fixed_array(source, ndim, dims, dtype, low, high)
        if fixed is not None:
            if low is None:  # the numbers of later arrays are related to those of this one, too
                exploration = Exploration.of(source)
                exploration.begin_array()
                exploration.first_of(fixed.dtype, fixed.data)
            return fixed
    exploration = Exploration.of(source)
    features, number = exploration.features, exploration.begin_array()
    plain = are_plain((ndim, shape, dtype, low, high, contents, layout, *dims))
    if not plain:
        ndim, shape, dtype, low, high, contents, layout, *dims = [
            item if item is None else as_generator(item)
            for item in (ndim, shape, dtype, low, high, contents, layout, *dims)
        ]
    given = [axis for axis, size in enumerate(dims) if size is not None]
    dims = dims[: given[-1] + 1] if given else ()
    if given or not (shape is dtype is contents is layout is None):  # open arguments contradict nothing
        check_consistent(ndim, dims, shape, dtype, low, high, contents, layout)
    if not plain:
        low, high, dtype, contents, layout = [
            item.draw_in(source) if isinstance(item, Generator) else item
            for item in (low, high, dtype, contents, layout)
        ]
    if shape is not None:
        sizes: Shape = given_shape(shape).draw_in(source)
    else:
        sizes = exploration.shapes.shape(ndim, dims, number)
    if dtype is None and are_indices(contents):
        dtype = "int64"
    name = _floating(features.level("dtype", number), low, high, contents) if dtype is None else dtype_name(dtype)
    if low is not None or high is not None:
        check_bounds(low, high)
    if contents is None:
        is_open = shape is None and all_open(ndim, dims)
        numbers = _open_numbers(features, number, low, high, is_single=not sizes, is_open=is_open)
        # At level ``zeros`` one number differs from all others, or the array is equal to the first one.
        may_repeat = numbers.level != "zeros"
    else:
        filling = check_contents(contents)
        filling = filling.drawn(source) if isinstance(filling, Filling) else filling
        least, greatest = _range(name, low, high, math.prod(sizes))
        if shape is None and isinstance(contents, str) and contents == "distinct":
            sizes = _of_at_most(sizes, dims, _different(name, least, greatest))
        may_repeat = not are_spread(contents)
    if layout is None:
        layout = open_layout(features, number, sizes, may_repeat=may_repeat)
    elif layout == "expanded" and are_spread(contents):  # generators drew both
        layout = "strided"
    if layout != "contiguous":
        layout = fitting(sizes, check_layout(layout))
    seed = source.bits()
    try:
        times = dim = 0
        if layout == "expanded":
            dim = open_expanded_dim(features, sizes)
            times = sizes[dim]
            sizes = (*sizes[:dim], 1, *sizes[dim + 1 :])
        if contents is None:
            values = _level_values(exploration, sizes, name, numbers, seed)
        else:
            values = array_from(Spec(sizes, name, least, greatest, filling), seed)
            first = exploration.first_of(name, values)
            if contents == "sorted" and first is not values and features.level("values", number) in RELATED:
                values = sharing(values, first, name, low, high, seed)
        return Drawn(values.repeat(times, axis=dim) if layout == "expanded" else values, name, layout)
    except GeneratorError as error:
        raise type(error)(f"random_tensor at {location(call_site())}: {error}") from None


def _open_numbers(
    features: TrialFeatures, number: int, low: Any, high: Any, *, is_single: bool, is_open: bool
) -> LevelContents:
    """Return the numbers, at least `low` and below `high`, that the plan chose for array `number` of the trial.

    `is_single` tells whether the array has rank 0, and `is_open` whether the test leaves its whole shape open.
    """
    level, turn = features.level("values", number), features.turn("values")
    # A single number that is zero says little, and the trial in which all numbers are zero has one, too.
    level = "signed" if level == "zeros" and is_single else level
    # If the rank is open, the first array of the trial in which all numbers are zero is a single number. Those of
    # the next one are not zero: no other trial has a single number and then an array.
    if number and (level, turn) == ALL_ZERO and is_open:
        turn = 0
    return LevelContents(level, low, high, turn)


def _level_values(exploration: Exploration, shape: Shape, dtype: str, numbers: LevelContents, seed: int) -> Array:
    """Return an array of `numbers`, related to the earlier arrays of the trial so that together they reveal more."""

    def revealing(values: Array) -> Array:
        return with_revealing_row_ends(values, dtype, numbers, seed)

    values = numbers.fill(Bits(seed), Spec(shape, dtype))
    if exploration.has_array_of(dtype):
        first = exploration.first_of(dtype, values)
        if are_equal(shape, first, numbers):
            return first.copy()
        values = related(values, first, dtype, numbers, seed)
        if numbers.level not in NOT_FINITE:  # special numbers stay where they meet those of the first array
            values = revealing(values)
    else:
        first, other = exploration.first_of(dtype, revealing(values)), exploration.first_of_another(dtype)
        values = first if other is None else revealing(converted(values, other, numbers, seed))
    return without_overflow(values, dtype, numbers, exploration.divided)


def _floating(level: str, low: Any, high: Any, contents: Any) -> str:
    """Return the dtype of `level`; one of half precision only if it can represent the numbers that the test needs."""
    name = _OF_LEVEL[level]
    if name not in _HALF:
        return name
    if contents is not None:
        return "float32"
    if low is None and high is None:
        return name
    check_bounds(low, high)
    least = low if low is not None else high - max(abs(high), 1)
    greatest = high if high is not None else low + max(abs(low), 1)
    try:
        first, last = float_range(name, least, greatest)
    except BadBounds:
        return "float32"
    return name if first < last else "float32"


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


def drawn_large() -> bool:
    """Return whether an array of the current trial has large sizes that the plan chose, and not the test."""
    return is_large(current())


def explored_shapes(count: int, ndim: Any = None) -> tuple[Shape, ...]:
    """Return `count` shapes of the current trial that broadcast together, of rank `ndim` or, if it is None, any rank.

    Raises `GeneratorError` if `count` is not an int or is below 1.
    """
    if type(count) is not int or count < 1:
        raise GeneratorError(
            f"broadcast_tensors({count!r}) at {location(call_site())}: expected a number of tensors, at least 1"
        )
    exploration = Exploration.of(current())
    return exploration.shapes.broadcasting(count, ndim, exploration.begin_array())
