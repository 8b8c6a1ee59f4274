"""Draws arrays whose shape, dtype, numbers and layout a test leaves open: by the plan, then at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from generators.annotations import SIZE
from generators.arrays import Drawn
from generators.contents import Filling, Spec, array_from, check_contents
from generators.core import Generator
from generators.dtypes import INTEGRAL, Array, dtype_name
from generators.errors import BadBounds, GeneratorError, of_the_test
from generators.fixed_arrays import fixed_array
from generators.layouts import check_layout, expanded_dim, fitting
from generators.plan import BLOCK, LEVELS, NAMES, PLAIN_ROWS, row, turn
from generators.related_numbers import RELATED, related, with_telling_ends
from generators.shapes import Shape, given_shape
from generators.source import Source, current, trial_of
from generators.strategies import as_generator
from generators.values import REACH, WHOLE_REACH, Open
from generators.where import here, text

# Errors of a test's own making are told at its line: what raises them here is no part of the traceback.
__tracebackhide__ = of_the_test

#: Elements of an array that is more than one vectorised or one threaded loop takes in one go.
LARGE = (4100, 6200)
_HUGE_SIZES = frozenset(("long", "large"))
#: Levels of special numbers; `zeros` has -0.0.
_SPECIAL = frozenset(("nan", "infinite", "tiny", "huge", "zeros"))


_PLACES = MappingProxyType({name: place for place, name in enumerate(NAMES)})


class Exploration:
    """What the tensors of one trial have in common: its row of the plan, and the shapes that others broadcast with."""

    __slots__ = ("_arrays", "_commons", "_index", "_numbers", "_partners", "_row", "_source")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._index = trial_of(source.seed)
        self._row = row(self._index)
        self._arrays = 0
        self._partners: dict[Any, tuple[Shape, Shape]] = {}
        #: Rank -> the first shape of it that was drawn, and what the test had said of that.
        self._commons: dict[int, tuple[Shape, Sequence[Any]]] = {}
        #: dtype -> the first array of it.
        self._numbers: dict[str, Array] = {}

    @staticmethod
    def of(source: Source) -> Exploration:
        """The one of `source`, made when first asked for."""
        found = source.memo.get(Exploration)
        if found is None:
            found = source.memo[Exploration] = Exploration(source)
        return found

    def begin_array(self) -> int:
        """The number of the next array in its trial, from 0."""
        self._arrays += 1
        return self._arrays - 1

    def level(self, factor: str, number: int = 0) -> str:
        """The level of `factor` for array `number` of this trial, logged as a choice."""
        source, position = self._source, _PLACES[factor]
        levels = LEVELS[position]
        chosen = source.planned(self._planned(position, number) if number else self._row[position], len(levels))
        if not source.special_values and levels[chosen] in _SPECIAL:
            chosen = levels.index("signed")
        source.features.setdefault(factor, chosen)
        return levels[chosen]

    def _planned(self, position: int, number: int) -> int:
        own = self._row[position]
        factor = NAMES[position]
        if self._index < PLAIN_ROWS or factor in ("dtype", "rank", "partner"):
            return own
        # The arrays of a trial differ in what they need not have in common; two of three still have like numbers.
        block, place = divmod(self._index, BLOCK)
        other = row(block * BLOCK + (place + 7 * number) % BLOCK)[position]
        if factor == "values":
            kept = LEVELS[position][own] in RELATED or LEVELS[position][other] in _SPECIAL
            return own if kept or (self._index + number) % 3 else other
        if factor == "sizes" and LEVELS[position][other] in _HUGE_SIZES:
            return 0
        return other

    # --- shapes ---

    def shape(self, ndim: Any, dims: Sequence[Any], number: int) -> Shape:
        """A shape of rank `ndim` with these `dims`, drawn where they are open.

        Arrays that ask for the same have one shape, or shapes that broadcast together.
        """
        key = (ndim, *dims)
        if key in self._partners:
            return self._partner(key, ndim, dims)
        rank = self._rank(ndim, dims)
        if rank <= len(dims) and all(size is not None for size in dims[:rank]):
            return tuple([_drawn(size, self._source) for size in dims[:rank]])
        shared = None if ndim is None else self._shared(rank, dims)
        if shared is not None:
            self._partners[key] = (shared, shared)
            return self._partner(key, ndim, dims)
        sizes, partner = self.level("sizes", number), self.level("partner", number)
        odd = partner in ("first", "both") and not self._partners
        # Where the first array alone is to have ones, those that all have would leave nothing to broadcast.
        common = self._sizes(rank, dims, "small" if odd and sizes == "ones" else sizes)
        self._commons.setdefault(rank, (common, dims))
        own = self._with_ones(common, dims) if odd else common
        self._partners[key] = (common, own)
        return own

    def _shared(self, rank: int, dims: Sequence[Any]) -> Shape | None:
        """The sizes of an earlier shape where `dims` are open, if they were open there: batches have one size."""
        common, theirs = self._commons.get(rank, ((), ()))
        mine = _open((0,) * rank, dims)
        if not mine or not common or not {*mine} <= {*_open(common, theirs)}:
            return None
        return tuple([common[axis] if axis in mine else _drawn(dims[axis], self._source) for axis in range(rank)])

    def first_of(self, dtype: str, values: Array) -> Array:
        """The first array of `dtype` in this trial, which is `values` where there was none."""
        return self._numbers.setdefault(dtype, values)

    def _rank(self, ndim: Any, dims: Sequence[Any]) -> int:
        if ndim is None:
            least = max((axis + 1 for axis, size in enumerate(dims) if size is not None), default=0)
            return max(least, int(self.level("rank")))
        rank = ndim.draw_in(self._source, SIZE) if isinstance(ndim, Generator) else ndim
        if type(rank) is int and rank >= 0:
            return rank
        raise GeneratorError(f"ndim={rank!r} at {text(here())}: expected a whole number >= 0")

    def _sizes(self, rank: int, dims: Sequence[Any], level: str) -> Shape:
        source = self._source
        sizes: list[Any] = [*dims[:rank], *[None] * (rank - len(dims))]
        for axis, size in enumerate(sizes):
            if size is not None and (type(size) is not int or size < 0):
                sizes[axis] = _drawn(size, source)
        free = [axis for axis, size in enumerate(sizes) if size is None]
        taken = math.prod(size for size in sizes if size is not None)
        if not free:
            return tuple(sizes)
        if level == "long" or (level == "large" and len(free) == 1):
            for axis in free:
                sizes[axis] = source.integer(1, 3)
            rest = taken * math.prod(sizes[axis] for axis in free)
            axis = free[-1 - source.index(len(free))]
            sizes[axis] = max(2, source.integer(*LARGE) * sizes[axis] // max(rest, 1))
        elif level == "large":
            each = (source.integer(*LARGE) / max(taken, 1)) ** (1 / len(free))
            for axis in free:
                sizes[axis] = max(2, math.ceil(each) + source.integer(0, 2))
        elif level in ("nine", "seventeen"):
            for axis in free:
                sizes[axis] = source.integer(1, 4)
            sizes[free[-1]] = 9 if level == "nine" else (17, 33)[source.index(2)]
        else:
            for axis in free:
                sizes[axis] = source.integer(2, 7)
            if level == "ones":
                for axis in self._some(free, "sizes"):
                    sizes[axis] = 1
        return tuple(sizes)

    def _partner(self, key: Any, ndim: Any, dims: Sequence[Any]) -> Shape:
        common, first = self._partners[key]
        level = self.level("partner")
        if level in ("same", "first"):
            return common
        if level == "other":
            return self._sizes(len(common), dims, "small")
        if level == "fewer" and ndim is None and not any(size is not None for size in dims) and common:
            return common[self._source.integer(1, len(common) + 1) :]
        if level == "both":  # where the first has no ones, if there is such a place
            wide = [axis for axis in _open(common, dims) if first[axis] != 1]
            return self._with_ones(common, dims, wide or None)
        return self._with_ones(common, dims)

    def _with_ones(self, shape: Shape, dims: Sequence[Any], axes: list[int] | None = None) -> Shape:
        ones = self._some(_open(shape, dims) if axes is None else axes, "partner")
        return tuple([1 if axis in ones else size for axis, size in enumerate(shape)])

    def _some(self, axes: Sequence[int], factor: str) -> set[int]:
        """At least one of `axes`, if there are any; trials that are alike in `factor` take turns in which."""
        if not axes:
            return set()
        source, taken = self._source, turn(self._index, factor)
        surely = axes[source.planned(taken % len(axes), len(axes))]
        others = taken % 3 == 2  # mostly one alone, whose fault is that of no other
        return {axis for axis in axes if axis == surely or (others and source.boolean())}

    def broadcasting(self, count: int, ndim: Any) -> tuple[Shape, ...]:
        """`count` shapes that broadcast together: alike, with ones in some dimensions, with fewer dimensions."""
        source = self._source
        number = self.begin_array()
        common = self._sizes(self._rank(ndim, ()), (), self.level("sizes", number))
        level = self.level("partner", number)
        odd = source.index(2) if level == "both" else 0
        shapes = []
        for place in range(count):
            shape = common
            if level == "both":  # in other dimensions than the others
                axes = [axis for axis in range(len(common)) if (axis + odd + place) % 2]
                shape = self._with_ones(shape, (), axes)
            elif level == "other" or (level == "first" and not place) or (level == "second" and place):
                shape = self._with_ones(shape, ())
            if level in ("fewer", "other") and place and ndim is None and shape:
                shape = shape[source.integer(0 if level == "other" else 1, len(shape) + 1) :]
            shapes.append(shape)
        return tuple(shapes)


def _drawn(size: Any, source: Source) -> int:
    """A size that is given, or a generator of one."""
    drawn = size.draw_in(source, SIZE) if isinstance(size, Generator) else size
    if type(drawn) is int and drawn >= 0:
        return drawn
    whole: int = given_shape((size,)).draw_in(source)[0]  # or what is wrong with it
    return whole


def _open(shape: Shape, dims: Sequence[Any]) -> list[int]:
    return [axis for axis in range(len(shape)) if axis >= len(dims) or dims[axis] is None]


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
    """An array of the current trial. What is None is open, and is drawn as the plan says; what is not is law.

    Arguments as for `random_array`, each of them a value or a generator. Of open dtype, it is float32 or float64.
    Raises `GeneratorError` where arguments contradict each other, and `BadBounds` where nothing is between `low` and
    `high`, naming the line that wrote it.
    """
    source = current()
    if type(contents) is type(layout) is str and contents == "uniform" and layout == "contiguous" and shape is None:
        fixed = fixed_array(source, ndim, dims, dtype, low, high)
        if fixed is not None:
            return fixed
    given = (ndim, shape, dtype, low, high, contents, layout)
    ndim, shape, dtype, low, high, contents, layout = [item if item is None else as_generator(item) for item in given]
    dims = [size if size is None else as_generator(size) for size in dims]
    exploration = Exploration.of(source)
    number = exploration.begin_array()
    _consistent(ndim, dims, shape, dtype, low, high, contents, layout)
    if not all(item is None for item in given):
        low, high, dtype, contents, layout = [
            item.draw_in(source) if isinstance(item, Generator) else item
            for item in (low, high, dtype, contents, layout)
        ]
    if shape is not None:
        sizes: Shape = given_shape(shape).draw_in(source)
    else:
        sizes = exploration.shape(ndim, dims, number)
        if contents == "distinct" and dtype is not None and low is not None and high is not None:
            sizes = _of_at_most(sizes, dims, _different(dtype_name(dtype), low, high))
    if dtype is None:
        name = ("float32", "float64")[exploration.level("dtype", number) == "double"]
    else:
        name = dtype_name(dtype)
    if low is not None or high is not None:
        _check_bounds(low, high)
    least, greatest = 0, 1
    if contents is None:
        filling: Any = Open(exploration.level("values", number), low, high)
    else:
        filling = check_contents(contents)
        filling = filling.drawn(source) if isinstance(filling, Filling) else filling
        least, greatest = _range(name, low, high, math.prod(sizes))
    if layout is None:
        layout = _lying(exploration.level("layout", number), sizes, repeats=contents != "distinct")
    layout = fitting(sizes, check_layout(layout))
    seed = source.bits()
    try:
        if layout == "expanded":
            dim = expanded_dim(sizes)
            times = sizes[dim]
            sizes = (*sizes[:dim], 1, *sizes[dim + 1 :])
        values = array_from(Spec(sizes, name, least, greatest, filling), seed)
        first = exploration.first_of(name, values)
        if contents is None and first is not values:
            values = related(values, first, name, filling.level, seed, low, high)
        if contents is None:
            values = with_telling_ends(values, name, seed)
        return Drawn(values if layout != "expanded" else np.repeat(values, times, axis=dim), name, layout)
    except GeneratorError as error:
        raise type(error)(f"random_tensor at {text(here())}: {error}") from None


def _range(dtype: str, low: Any, high: Any, count: int) -> tuple[Any, Any]:
    """The bounds of contents that have a name, and so need some: as wide as what is drawn where nothing is said."""
    reach = max(WHOLE_REACH, count) + 1 if dtype in INTEGRAL else REACH
    least = low if low is not None else -reach if high is None else high - 2 * reach
    if dtype in INTEGRAL and low is None and (dtype == "uint8" or (high is not None and high > 0)):
        least = 0
    if dtype.startswith("int8") or dtype == "uint8":
        least = max(least, -128)
        return least, high if high is not None else min(least + 2 * reach, 128 if dtype == "int8" else 256)
    return least, high if high is not None else least + 2 * reach


def _different(dtype: str, low: float, high: float) -> float:
    """How many different numbers of `dtype` lie between the bounds."""
    return math.ceil(high) - math.ceil(low) if dtype in INTEGRAL else math.inf


def _of_at_most(shape: Shape, dims: Sequence[Any], count: float) -> Shape:
    """`shape` with smaller sizes where they are open, as far as it takes to have at most `count` elements."""
    sizes = [*shape]
    free = _open(shape, dims)
    while free and math.prod(sizes) > count and max(sizes[axis] for axis in free) > 1:
        largest = max(free, key=lambda axis: sizes[axis])
        sizes[largest] = (sizes[largest] + 1) // 2
    return tuple(sizes)


def _lying(level: str, shape: Shape, *, repeats: bool) -> str:
    """The layout at `level`, or the like of it where the shape, or numbers that do not repeat, allow no such."""
    odd = (level == "transposed" and len(shape) == 1) or (level == "expanded" and not repeats)
    return "strided" if odd else level


def _check_bounds(low: Any, high: Any) -> None:
    for name, bound in (("low", low), ("high", high)):
        if bound is not None and not (isinstance(bound, (int, float, np.number)) and math.isfinite(bound)):
            raise BadBounds(f"random_tensor({name}={bound!r}) at {text(here())}: expected a finite number")
    if low is not None and high is not None and not low < high:
        raise BadBounds(
            f"random_tensor(low={low!r}, high={high!r}) at {text(here())}: expected finite numbers with low < high"
        )


def _consistent(
    ndim: Any,
    dims: Sequence[Any],
    shape: Any,
    dtype: Any,
    low: Any,
    high: Any,
    contents: Any,
    layout: Any,
) -> None:
    """Raise for arguments of which one says the contrary of another."""

    def wrong(what: str, why: str) -> GeneratorError:
        return GeneratorError(f"random_tensor({what}) at {text(here())}: {why}")

    given = [axis for axis, size in enumerate(dims) if size is not None]
    if shape is not None and (ndim is not None or given):
        other = "ndim" if ndim is not None else f"dim{given[0]}"
        raise wrong(f"shape={shape!r}, {other}=...", f"expected either the shape or {other}, which is a part of it")
    if type(ndim) is int and given and given[-1] >= ndim:
        axis = given[-1]
        raise wrong(
            f"ndim={ndim}, dim{axis}={dims[axis]!r}",
            f"expected dimensions up to dim{ndim - 1}, for a tensor of rank {ndim} has no more"
            if ndim
            else "expected no dimensions, for a tensor of rank 0 has none",
        )
    plain = dtype is not None and not isinstance(dtype, Generator)
    if plain and dtype_name(dtype) == "bool" and not (low is None and high is None):
        raise wrong(f"dtype={dtype!r}, low={low!r}, high={high!r}", "expected no bounds, for truth values have none")
    if isinstance(contents, str) and contents == "indices" and high is None:
        raise wrong(f"contents={contents!r}", "expected high=, which is how many there are to point at")
    if contents == "distinct" and layout == "expanded":
        raise wrong(
            f"contents={contents!r}, layout={layout!r}", "expected another layout, for this one repeats numbers"
        )
    if isinstance(layout, str) and layout != "contiguous":
        rank = ndim if type(ndim) is int else len(shape) if isinstance(shape, (tuple, list)) else None
        needed = 2 if layout == "transposed" else 1
        if rank is not None and rank < needed:
            raise wrong(f"layout={layout!r}", f"expected rank {needed} or more, got {rank}: it can lie in no other way")


def explored_shapes(count: int, ndim: Any = None) -> tuple[Shape, ...]:
    """`count` shapes of the current trial that broadcast together; rank `ndim`, or any when it is None."""
    return Exploration.of(current()).broadcasting(count, ndim)
