"""The arguments of an array, some of which a test leaves open: draws the given ones, and refuses contradictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from generators.code_position import call_site, location
from generators.contents import indices
from generators.core import Generator
from generators.dtypes import dtype_name
from generators.errors import BadBounds, GeneratorError, is_test_mistake
from generators.layouts import LEAST_RANK
from generators.source import Source
from generators.strategies import are_plain, as_generator

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake


class ArrayArguments(NamedTuple):
    """The arguments of an array; one that is None is open. Sizes may be generators. The last of `dims` is not None."""

    ndim: Any
    dims: Sequence[Any]
    shape: Any
    dtype: Any
    low: Any
    high: Any
    contents: Any
    layout: Any


def drawn_arguments(
    source: Source,
    ndim: Any,
    dims: Sequence[Any],
    shape: Any,
    dtype: Any,
    low: Any,
    high: Any,
    contents: Any,
    layout: Any,
) -> ArrayArguments:
    """Return the arguments with the values of generators and of Hypothesis strategies, except for the sizes.

    Raises:
        GeneratorError: if one argument contradicts another. The message has the line of the caller.
    """
    plain = are_plain((ndim, shape, dtype, low, high, contents, layout))
    if not plain:
        ndim, shape, dtype, low, high, contents, layout = [
            as_generator(item) for item in (ndim, shape, dtype, low, high, contents, layout)
        ]
    if dims:
        while dims and dims[-1] is None:
            dims = dims[:-1]
        dims = [size if isinstance(size, Generator) else as_generator(size) for size in dims]
    asked = ArrayArguments(ndim, dims, shape, dtype, low, high, contents, layout)
    are_few = not dims or (type(ndim) is int and len(dims) <= ndim)
    if not (are_few and shape is dtype is contents is layout is None):  # open arguments contradict nothing
        check_consistent(asked)
    if plain:
        return asked
    low, high, dtype, contents, layout = [
        item.draw_in(source) if isinstance(item, Generator) else item for item in (low, high, dtype, contents, layout)
    ]
    return ArrayArguments(ndim, dims, shape, dtype, low, high, contents, layout)


def are_indices(contents: Any) -> bool:
    """Return whether `contents` are indices, which need an integral dtype."""
    return contents == "indices" if isinstance(contents, str) else isinstance(contents, indices)


def are_spread(contents: Any) -> bool:
    """Return whether the numbers of a row differ by definition, which an expanded array breaks."""
    return isinstance(contents, str) and contents in ("distinct", "one_hot")


def check_bounds(low: Any, high: Any) -> None:
    """Raise `BadBounds` unless `low` and `high` are finite and ascending, as far as they are given."""
    for name, bound in (("low", low), ("high", high)):
        if bound is not None and not (isinstance(bound, (int, float, np.number)) and math.isfinite(bound)):
            raise BadBounds(f"random_tensor({name}={bound!r}) at {location(call_site())}: expected a finite number")
    if low is not None and high is not None and not low < high:
        raise BadBounds(
            f"random_tensor(low={low!r}, high={high!r}) at {location(call_site())}: expected finite numbers with low "
            "< high"
        )


def check_consistent(asked: ArrayArguments) -> None:
    """Raise `GeneratorError` if one argument contradicts another."""
    ndim, dims, shape, dtype, low, high, contents, layout = asked

    def wrong(what: str, why: str) -> GeneratorError:
        return GeneratorError(f"random_tensor({what}) at {location(call_site())}: {why}")

    if shape is not None and (ndim is not None or dims):
        other = "ndim" if ndim is not None else f"dim{next(at for at, size in enumerate(dims) if size is not None)}"
        raise wrong(f"shape={shape!r}, {other}=...", f"expected either shape or {other}, not both")
    rank = _greatest_rank(ndim, shape)
    if rank is not None and dims and len(dims) > rank:
        axis = len(dims) - 1
        raise wrong(
            f"ndim={ndim!r}, dim{axis}={dims[axis]!r}",
            f"expected dimensions up to dim{rank - 1}, because a tensor of rank {rank} has no more"
            if rank
            else "expected no dimensions, because a tensor of rank 0 has none",
        )
    plain = dtype is not None and not isinstance(dtype, Generator)
    if plain and dtype_name(dtype) == "bool" and not (low is None and high is None):
        raise wrong(f"dtype={dtype!r}, low={low!r}, high={high!r}", "expected no bounds, because booleans have none")
    if isinstance(contents, str) and contents == "indices" and high is None:
        raise wrong(f"contents={contents!r}", "expected high=, the number of elements that can be indexed")
    if isinstance(contents, indices):
        given = [name for name, bound in (("low", low), ("high", high)) if bound is not None]
        if given and (contents.bound is not None or (contents.negative and low is not None)):
            told = f"expected no {given[0]}, because the contents say it"
            raise wrong(f"contents={contents!r}, {given[0]}=...", told)
    if isinstance(contents, str) and contents == "one_hot":
        for name, bound, fits in (("low", low, 0), ("high", high, 1)):
            if isinstance(bound, (int, float)) and (bound > fits if name == "low" else bound < fits):
                raise wrong(
                    f"contents={contents!r}, {name}={bound!r}", "expected no bounds, because it contains zeros and ones"
                )
    if are_spread(contents) and isinstance(layout, str) and layout == "expanded":
        raise wrong(
            f"contents={contents!r}, layout={layout!r}", "expected another layout, because this one repeats numbers"
        )
    if isinstance(layout, str) and layout != "contiguous":
        needed = LEAST_RANK.get(layout, 1)
        if rank is not None and rank < needed:
            raise wrong(f"layout={layout!r}", f"expected rank {needed} or more for this layout, got {rank}")
        if layout == "expanded" and _is_single(rank, dims, shape):
            raise wrong(f"layout={layout!r}", "expected a size above 1, because only such a dimension is expanded")


def _greatest_rank(ndim: Any, shape: Any) -> int | None:
    """Return the greatest rank that a test allows; None if it is open, or if only a draw can tell.

    A generator may draw lower ranks, which have fewer sizes and no such layout. That contradicts nothing.
    """
    if isinstance(ndim, Generator):
        return ndim.greatest()
    if type(ndim) is int:
        return ndim
    if type(shape) is int:
        return 1
    return len(shape) if isinstance(shape, (tuple, list)) else None


def _is_single(rank: int | None, dims: Sequence[Any], shape: Any) -> bool:
    """Return whether a test says that all sizes are 1."""
    sizes = [*dims] if shape is None else [shape] if type(shape) is int else shape
    if not isinstance(sizes, (tuple, list)) or len(sizes) != rank:
        return False
    return all(type(size) is int and size == 1 for size in sizes)
