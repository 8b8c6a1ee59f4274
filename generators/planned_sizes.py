"""Draws the open sizes of one array, as the plan chose them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from generators.errors import is_test_mistake
from generators.long_rows import UNLIKE_ROWS
from generators.open_sizes import (
    LARGE,
    LESS_LARGE,
    VECTOR,
    at_blocks,
    drawn_size,
    made_equal,
    with_seven_over,
)
from generators.related_numbers import NOT_FINITE
from generators.shapes import Shape
from generators.trial_features import TrialFeatures

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake

#: The size of level ``seventeen`` that the first open dimension gets, and not the last one.
_MANY_ROWS = 33
#: Number of open dimensions of images.
_IMAGES = 4
#: By level, turn and number of open dimensions, the size that an open dimension between the others gets, and which one:
#: the channels of images, in two trials, and their height. Rows are as long in other trials.
_BETWEEN = MappingProxyType(
    {
        ("seventeen", 2, 3): (_MANY_ROWS, 1),
        ("seventeen", 2, _IMAGES): (_MANY_ROWS, 1),
        ("nine", 0, _IMAGES): (2 * VECTOR + 1, 1),
        ("nine", 1, _IMAGES): (2 * VECTOR + 1, 2),
    }
)
#: Number of elements in each of many rows.
_SHORT = 4
#: By number of open dimensions, the least size of each that leaves room for the special numbers of a trial.
_ROOM = MappingProxyType({1: 20, 2: 5, 3: 3})


def planned_sizes(features: TrialFeatures, rank: int, dims: Sequence[Any], level: str) -> Shape:
    """Return a shape of `rank` with the sizes `dims`, and open ones drawn at `level`.

    Args:
        features: the levels of the trial, whose source draws.
        rank: the number of dimensions.
        dims: the sizes that the test gives; None is open, as is every dimension beyond the end.
        level: a level of the factor ``sizes``.
    """
    sizes: list[Any] = [*dims[:rank], *[None] * (rank - len(dims))]
    free = []
    for axis, size in enumerate(sizes):
        if size is None:
            free.append(axis)
        elif type(size) is not int or size < 0:
            sizes[axis] = drawn_size(size, features.source, axis)
    if not free:
        return tuple(sizes)
    if level == "long" or (level == "large" and len(free) == 1):
        _make_one_long(features, sizes, free, level)
    elif level == "large":
        _make_all_large(features, sizes, free)
    elif level in ("nine", "seventeen"):
        _make_one_longer_than_blocks(features, sizes, free, level)
    else:
        _make_small(features, sizes, free, level)
    return tuple(sizes)


def _make_one_long(features: TrialFeatures, sizes: list[Any], free: Sequence[int], level: str) -> None:
    source, turn = features.source, features.turn("sizes")
    # The long dimension is the last one (long rows) in one trial, and the first (a large batch) in the next.
    axis = free[source.planned(0 if turn % 2 else len(free) - 1, len(free))]
    for other in free:
        # Beside a large batch all sizes are odd, so that a single element of the whole array is left over after pairs:
        # 3 for the last one, and 1 for those between. Beside long rows they are 2.
        batch, last = axis == free[0], other == free[-1]
        sizes[other] = 1 + (2 if batch else 1) * source.planned(int(last or not batch), 2)
    rest = math.prod(sizes)
    if level == "long" and len(free) > 1 and axis == len(sizes) - 1:
        sizes[free[-2]] = UNLIKE_ROWS
    count = source.integer(*(LARGE if level == "long" else LESS_LARGE))
    if len(free) > 1 and axis == free[0]:
        count = max(count, LARGE[1])  # so that there are more than 2,000 rows of three numbers
    size = max(2, count * sizes[axis] // max(rest, 1))
    sizes[axis] = with_seven_over(size) if level == "long" else at_blocks(size, turn)


def _make_all_large(features: TrialFeatures, sizes: list[Any], free: Sequence[int]) -> None:
    source, turn = features.source, features.turn("sizes")
    count = source.integer(*LARGE) / max(math.prod(size for size in sizes if size is not None), 1)
    if turn % 2 and len(free) == 2:  # a matrix of many rows, which at level ``long`` are doubles
        sizes[free[0]], sizes[free[1]] = at_blocks(max(2, math.ceil(count / _SHORT)), turn), _SHORT
        return
    each = count ** (1 / len(free))
    for axis in free:
        sizes[axis] = at_blocks(max(2, math.ceil(each) + source.integer(0, 2)), turn)


def _make_one_longer_than_blocks(features: TrialFeatures, sizes: list[Any], free: Sequence[int], level: str) -> None:
    source = features.source
    for axis in free:
        sizes[axis] = source.integer(2, 5)
    # Of the trials of ``seventeen`` the first one, in which several arrays have one shape, has rows of whole blocks.
    past = (9, 8) if level == "nine" else (32, 33, 17)
    turn = source.planned(features.turn("sizes") % len(past), len(past))
    # Mostly long rows, which loops take in blocks, but also many rows, and a tall matrix: decompositions have a path of
    # their own for it.
    size, axis = past[turn], {_MANY_ROWS: free[0], VECTOR + 1: free[-2:][0]}.get(past[turn], free[-1])
    between = _BETWEEN.get((level, turn, min(len(free), _IMAGES)))
    if between is not None:
        size, axis = between[0], free[between[1]]
    sizes[axis] = size


def _make_small(features: TrialFeatures, sizes: list[Any], free: Sequence[int], level: str) -> None:
    source, values = features.source, features.row.level("values")
    # If numbers are to meet NaN and infinities of another array, there must be an element for each of them. In one
    # dimension the same holds for the kinds of tiny numbers.
    many = values in NOT_FINITE or (values == "tiny" and len(free) == 1)
    least = _ROOM.get(len(free), 2) if level == "small" and many else 2
    end = max(7, least + 4)
    for axis in free:
        sizes[axis] = source.integer(least, end)
    alone = values == "nan" and not features.turn("values") % 2
    if level == "small" and (alone or (len(sizes) > 1 and values == "zeros")):
        # The last element, which decides any(), all() or NaN, comes after whole blocks.
        sizes[free[-1]] = (2 if alone else 4) * VECTOR + 1
    if level == "small" and values == "tiny" and len(sizes) > 2 and len(free) > 1:
        sizes[free[0]] = 1  # a batch of one, in all arrays of a trial in which they have one shape
    if level == "ones":
        for axis in some_axes(features, free, "sizes"):
            sizes[axis] = 1
    made_equal(sizes, free, features.index)


def some_axes(features: TrialFeatures, axes: Sequence[int], factor: str) -> set[int]:
    """Return at least one of `axes`, if there are any. Trials with the same level of `factor` take turns."""
    if not axes:
        return set()
    source, taken = features.source, features.turn(factor)
    # At levels ``first`` and ``second`` the last axis comes second: the first and the last axis of both arrays have
    # their turns within four trials, and beside the column that is the second array in one of them rows are long.
    level = features.row.level("partner") if factor == "partner" else ""
    start = {"second": -taken, "first": -taken, "fewer": taken + 1}.get(level, taken)
    surely = axes[source.planned(start % len(axes), len(axes))]
    others = taken % 3 == 2  # mostly a single 1, to which a fault can be attributed
    return {axis for axis in axes if axis == surely or (others and (factor == "partner" or source.boolean()))}
