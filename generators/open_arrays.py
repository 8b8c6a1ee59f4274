"""Draws arrays whose shape, dtype, numbers and layout a test may leave open: by the plan, then at random."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from generators.array_contents import ArrayContents, GivenContents, OpenNumbers
from generators.arrays import Drawn
from generators.code_position import call_site, location
from generators.dtypes import dtype_name, float_range
from generators.errors import BadBounds, GeneratorError, is_test_mistake
from generators.exploration import Exploration
from generators.fixed_arrays import fixed_array
from generators.layouts import check_layout, fitting, rank_for
from generators.open_arguments import ArrayArguments, are_indices, are_spread, check_bounds, drawn_arguments
from generators.open_layouts import open_expanded_dim, open_layout
from generators.shapes import Shape, given_shape
from generators.source import current
from generators.strategies import as_generator
from generators.trial_features import TrialFeatures, is_large

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
    are_said = type(contents) is type(layout) is str and dtype is not None and shape is None
    if are_said and contents == "uniform" and layout == "contiguous":
        fixed = fixed_array(source, ndim, dims, dtype, low, high)
        if fixed is not None:
            if low is None:  # the numbers of later arrays are related to those of this one, too
                exploration = Exploration.of(source)
                exploration.begin_array()
                exploration.first_of(fixed.dtype, fixed.data)
            return fixed
    exploration = Exploration.of(source)
    number = exploration.begin_array()
    asked = drawn_arguments(source, ndim, dims, shape, dtype, low, high, contents, layout)
    if asked.shape is None:
        of_truth = asked.dtype is not None and dtype_name(asked.dtype) == "bool"
        sizes = exploration.shapes.shape(asked.ndim, asked.dims, number, rank_for(asked.layout), of_truth=of_truth)
    else:
        sizes = given_shape(asked.shape).draw_in(source)
    name = _dtype(exploration.features, number, asked)
    if asked.low is not None or asked.high is not None:
        check_bounds(asked.low, asked.high)
    kind: type[ArrayContents] = OpenNumbers if asked.contents is None else GivenContents
    filler = kind(exploration, number, asked, name, sizes)
    layout = _layout(exploration.features, number, asked, filler)
    seed = source.bits()
    try:
        if layout != "expanded":
            return Drawn(filler.array(filler.shape, seed), name, layout)
        dim = open_expanded_dim(exploration.features, filler.shape)
        once = (*filler.shape[:dim], 1, *filler.shape[dim + 1 :])
        return Drawn(filler.array(once, seed).repeat(filler.shape[dim], axis=dim), name, layout)
    except GeneratorError as error:
        raise type(error)(f"random_tensor at {location(call_site())}: {error}") from None


def _dtype(features: TrialFeatures, number: int, asked: ArrayArguments) -> str:
    """Return the dtype of array `number` of the trial: the one that the test says, or else the one of the plan."""
    if asked.dtype is not None:
        return dtype_name(asked.dtype)
    if asked.contents is not None and are_indices(asked.contents):
        return "int64"
    return _floating(features.level("dtype", number), asked.low, asked.high, asked.contents)


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


def _layout(features: TrialFeatures, number: int, asked: ArrayArguments, filler: ArrayContents) -> str:
    """Return the layout of array `number` of the trial: the one that the test says, or else the one of the plan."""
    if asked.layout is None:
        layout = open_layout(features, number, filler.shape, may_repeat=filler.may_repeat)
    elif asked.layout == "expanded" and are_spread(asked.contents):  # generators drew both
        layout = "strided"
    else:
        layout = check_layout(asked.layout)
    return layout if layout == "contiguous" else fitting(filler.shape, layout)


def drawn_large() -> bool:
    """Return whether an array of the current trial has large sizes that the plan chose, and not the test."""
    return is_large(current())


def explored_shapes(count: int, ndim: Any = None, layout: str | None = None) -> tuple[Shape, ...]:
    """Return `count` shapes of the current trial that broadcast together, of rank `ndim` or, if it is None, any rank.

    A rank that is open is one with which arrays can have the memory `layout`, if the test says one.

    Raises `GeneratorError` if `count` is not an int or is below 1.
    """
    if type(count) is not int or count < 1:
        raise GeneratorError(
            f"broadcast_tensors({count!r}) at {location(call_site())}: expected a number of tensors, at least 1"
        )
    exploration = Exploration.of(current())
    return exploration.shapes.broadcasting(count, as_generator(ndim), exploration.begin_array(), rank_for(layout))
