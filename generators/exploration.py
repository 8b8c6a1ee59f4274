"""The common state of the arrays of one trial: its row of the plan, and shapes that fit together."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from types import MappingProxyType
from typing import Any

from generators.annotations import SIZE
from generators.code_position import call_site, location
from generators.core import Generator
from generators.dtypes import Array
from generators.errors import GeneratorError, is_test_mistake
from generators.long_rows import UNLIKE_ROWS
from generators.open_sizes import (
    LARGE,
    LESS_LARGE,
    VECTOR,
    all_open,
    at_blocks,
    drawn_size,
    made_equal,
    open_axes,
    single_number,
    with_ones_at,
    with_seven_over,
    with_sizes_of,
)
from generators.plan import BLOCK, LEVELS, NAMES, PLAIN_ROWS, THOROUGH, THOROUGHLY, USUAL, row, turns
from generators.related_numbers import NOT_FINITE, RELATED
from generators.shapes import Shape
from generators.source import Source, trial_of

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake

#: Greatest number of dimensions for which two trials at level ``both`` combine a 1 in each dimension of the first array
#: with a 1 in another dimension of the second.
_FEW_DIMENSIONS = 2
#: Least open rank when the ranks of two arrays differ, by level of `partner` and by turn. At ``fewer`` the arrays have
#: one and two dimensions, four and one, three and none; in the second trial at ``first`` none and three. At ``other``
#: both have two, one of which is often long.
_UNLIKE_RANKS = MappingProxyType({"fewer": (2, 4, 3), "first": (0, 3), "other": (2,)})
#: Turn of level ``fewer`` in which the first array is a single number if the test gives the rank. In turn 0 the second
#: array is. Many operators have a separate path for a single number, whatever its rank.
_FIRST_SINGLE = 2
#: The levels and turns of the layout in which the second array of a trial has the layout of the first. A matrix product
#: may have a path of its own for two transposed operands, and a sum for two with the same strides and the same shape.
_SAME_LAYOUT = frozenset(
    (LEVELS[NAMES.index("layout")].index(level), turn)
    for level, turn in (("transposed", 0), ("transposed", 2), ("expanded", 0))
)
#: The size of level ``seventeen`` that the first open dimension gets, and not the last one.
MANY_ROWS = 33
#: Index of the third array of a trial, requested with the same arguments as the first two.
_THIRD = 2
_HUGE_SIZES = frozenset(("long", "large"))
_HUGE = frozenset(LEVELS[NAMES.index("sizes")].index(level) for level in _HUGE_SIZES)
#: Levels of special numbers; ``zeros`` is one, because it has -0.0.
_SPECIAL = frozenset(("nan", "infinite", "tiny", "huge", "zeros"))
#: By number of open dimensions, the least size of each that leaves room for the special numbers of a trial.
_ROOM = MappingProxyType({1: 20, 2: 5, 3: 3})
#: Levels of numbers that reveal their faults only if several arrays of a trial have them.
_TOGETHER = RELATED | NOT_FINITE | {"zeros"}
#: Dtypes whose numbers are also used in arrays of another of these dtypes.
_COMPARED = frozenset(("float32", "float64", "int8", "int16", "int32", "int64", "uint8"))

_PLACES = MappingProxyType({name: place for place, name in enumerate(NAMES)})
_VALUES = _PLACES["values"]


class Exploration:
    """The common state of the tensors of one trial: its row of the plan, and shapes that others broadcast with."""

    __slots__ = (
        "_arrays",
        "_commons",
        "_index",
        "_numbers",
        "_offered",
        "_partners",
        "_row",
        "_source",
        "_turns",
        "divided",
    )

    def __init__(self, source: Source) -> None:
        self._source = source
        self._index = trial_of(source.seed)
        self._row = row(self._index)
        self._turns = turns(self._index)
        #: The number of available levels of each factor.
        self._offered = USUAL if self._index < THOROUGH else THOROUGHLY
        self._arrays = 0
        #: ``(ndim, *dims)`` -> the common shape of the arrays with these arguments, and the shape of the first of them.
        self._partners: dict[Any, tuple[Shape, Shape]] = {}
        #: Rank -> the first shape of this rank that was drawn, and the `dims` that the test gave for it.
        self._commons: dict[int, tuple[Shape, Sequence[Any]]] = {}
        #: dtype -> the first array of this dtype.
        self._numbers: dict[str, Array] = {}
        #: Whether the arrays so far have the least integer or -1, see `without_overflow`.
        self.divided: set[str] = set()

    @staticmethod
    def of(source: Source) -> Exploration:
        """Return the `Exploration` of `source`, and create it at the first call."""
        found = source.memo.get(Exploration)
        if found is None:
            found = source.memo[Exploration] = Exploration(source)
        return found

    @staticmethod
    def is_large(source: Source) -> bool:
        """Return whether the plan chose large sizes in the trial of `source`, because the test leaves sizes open."""
        return source.features.get("sizes") in _HUGE

    def begin_array(self) -> int:
        """Return the index of the next array in its trial, from 0, and count the array."""
        self._arrays += 1
        return self._arrays - 1

    def level(self, factor: str, number: int = 0) -> str:
        """Return the level of `factor` for array `number` of this trial, and log it as a choice."""
        source, position = self._source, _PLACES[factor]
        levels = LEVELS[position]
        planned = self._planned(position, number) if number else self._row[position]
        chosen = source.planned(planned, self._offered[position])
        if not source.special_values and levels[chosen] in _SPECIAL:
            chosen = levels.index("signed")
        source.features.setdefault(factor, chosen)
        return levels[chosen]

    def _planned(self, position: int, number: int) -> int:
        own = self._row[position]
        factor = NAMES[position]
        if self._index < PLAIN_ROWS or factor in ("dtype", "rank", "partner"):
            return own
        # The arrays of a trial differ in features that they need not have in common, but two of three keep the level of
        # values.
        block, place = divmod(self._index, BLOCK)
        other = row(block * BLOCK + (place + 7 * number) % BLOCK)[position]
        if factor == "values":
            kept = LEVELS[position][own] in _TOGETHER or LEVELS[position][other] in _SPECIAL
            return own if kept or (self._index + number) % 3 else other
        if factor == "sizes" and LEVELS[position][other] in _HUGE_SIZES:
            return 0
        if factor == "layout" and number == 1 and (own, self.turn(factor)) in _SAME_LAYOUT:
            return own
        return other

    # --- shapes ---

    def shape(self, ndim: Any, dims: Sequence[Any], number: int) -> Shape:
        """Return a shape of rank `ndim` with sizes `dims`; those that are None, or beyond the end of `dims`, are drawn.

        Arrays with the same arguments get the same shape, or shapes that broadcast together. `number` is the index of
        the array in its trial. Raises `GeneratorError` if `ndim` or a size is not valid.
        """
        key = (ndim, *dims)
        try:
            known = key in self._partners
        except TypeError:  # an argument is not hashable, such as a list
            names = ("ndim", *(f"dim{at}" for at in range(len(dims))))
            name, size = next(pair for pair in zip(names, key, strict=True) if not isinstance(pair[1], Hashable))
            raise GeneratorError(f"{name}={size!r} at {location(call_site())}: expected a whole number >= 0") from None
        if known:
            return self._partner(key, ndim, dims, number)
        rank = self._rank(ndim, dims)
        if rank <= len(dims) and all(size is not None for size in dims[:rank]):
            return tuple([drawn_size(size, self._source, axis) for axis, size in enumerate(dims[:rank])])
        # The trial's own level of sizes is for the first array that leaves sizes open.
        sizes, partner = self.level("sizes", number if self._partners else 0), self.level("partner", number)
        shared = dims if ndim is None else self._shared(rank, dims)
        if shared is not dims:
            common = self._sizes(rank, shared, sizes)
            self._partners[key] = (common, common)
            return self._partner(key, ndim, dims, number)
        odd = partner in ("first", "both") and not self._partners and sizes not in _HUGE_SIZES
        if odd and partner == "both" and self.turn("partner") % 2 and len(open_axes((0,) * rank, dims)) == 1:
            odd = False  # with a single open dimension the first array would be a single number each time
        # If only the first array is to have ones, ones in the common shape would leave nothing to broadcast.
        common = self._sizes(rank, dims, "small" if odd and sizes == "ones" else sizes)
        own = self._of_the_first(common, dims, partner) if odd else common
        if odd and max(common, default=0) > VECTOR > max(own, default=0) and len(open_axes(common, dims)) > 1:
            # The first array has a 1 in the dimension that is longer than a block: make another dimension the long one.
            common, own = self._past_a_block_elsewhere(common, own, dims)
        if not self._partners and all_open(ndim, dims):
            if partner == "fewer" and not self.turn("partner"):
                own = common[1:]
            elif partner == "first" and self.turn("partner") % 2:
                own = ()
        elif not self._partners and partner == "fewer" and self.turn("partner") == _FIRST_SINGLE:
            own = single_number(common, dims)
        self._commons.setdefault(rank, (common, dims))
        self._partners[key] = (common, own)
        return own

    def _of_the_first(self, common: Shape, dims: Sequence[Any], partner: str) -> Shape:
        """Return the first of two shapes that broadcast to `common`; it has ones."""
        axes = open_axes(common, dims)
        if partner == "both" and len(axes) > _FEW_DIMENSIONS:
            # It has ones where the second shape has none: in the first open dimension, and in the next such trial in
            # the second half of the open dimensions.
            alone = axes[0]
            axes = axes[len(axes) // 2 :] if self.turn("partner") % 2 else [alone]
            return with_ones_at(common, axes)
        return self._with_ones(common, dims)

    def _past_a_block_elsewhere(self, common: Shape, own: Shape, dims: Sequence[Any]) -> tuple[Shape, Shape]:
        """Return both shapes with the greatest size of `common` moved to an open dimension in which `own` has no 1."""
        longest = common.index(max(common))
        others = [axis for axis in open_axes(common, dims) if own[axis] == common[axis]]
        if not others:
            return common, own
        wide, short = [*common], [*own]
        wide[longest], wide[others[-1]] = common[others[-1]], common[longest]
        short[others[-1]] = common[longest]
        return tuple(wide), tuple(short)

    def _shared(self, rank: int, dims: Sequence[Any]) -> Sequence[Any]:
        """Return `dims` with the sizes of an earlier shape where both are open: batches, for example, have one size.

        Of shapes of two ranks, the last dimensions agree in one trial, as those of a matrix and a vector, and the first
        ones in the next, as those of scores and targets.
        """
        if not self._commons:
            return dims
        other = rank if rank in self._commons else next(iter(self._commons))
        from_the_first = (self._index + self._index // BLOCK) % 2
        return with_sizes_of(self._commons[other], rank, dims, 0 if from_the_first else other - rank)

    @property
    def values(self) -> str:
        """The plan's level of values in this trial."""
        return LEVELS[_VALUES][self._row.values]

    def turn(self, factor: str) -> int:
        """Return the number of earlier trials of the block that have the same level of `factor`."""
        return self._turns[_PLACES[factor]]

    def has_array_of(self, dtype: str) -> bool:
        """Return whether this trial has an array of `dtype` already."""
        return dtype in self._numbers

    def first_of(self, dtype: str, values: Array) -> Array:
        """Return the first array of `dtype` in this trial; if there is none yet, `values` becomes it."""
        return self._numbers.setdefault(dtype, values)

    def first_of_another(self, dtype: str) -> Array | None:
        """Return the first array of this trial that has another dtype and is comparable with `dtype`, or None."""
        if dtype not in _COMPARED:
            return None
        for other, numbers in self._numbers.items():
            if other != dtype and other in _COMPARED:
                return numbers
        return None

    def _rank(self, ndim: Any, dims: Sequence[Any]) -> int:
        if ndim is None:
            least = max((axis + 1 for axis, size in enumerate(dims) if size is not None), default=0)
            rank = int(self.level("rank"))
            if not rank and self._row.sizes in _HUGE:
                rank = 1  # so that there is a dimension with many elements
            if rank:  # so that the partner with fewer dimensions still has some, if it is to have any
                ranks = _UNLIKE_RANKS.get(self.level("partner"), (0,))
                rank = max(rank, ranks[self.turn("partner") % len(ranks)])
            return max(least, rank)
        rank = ndim.draw_in(self._source, SIZE) if isinstance(ndim, Generator) else ndim
        if type(rank) is int and rank >= 0:
            return rank
        raise GeneratorError(f"ndim={rank!r} at {location(call_site())}: expected a whole number >= 0")

    def _sizes(self, rank: int, dims: Sequence[Any], level: str) -> Shape:
        source = self._source
        sizes: list[Any] = [*dims[:rank], *[None] * (rank - len(dims))]
        free = []
        for axis, size in enumerate(sizes):
            if size is None:
                free.append(axis)
            elif type(size) is not int or size < 0:
                sizes[axis] = drawn_size(size, source, axis)
        if not free:
            return tuple(sizes)
        if level == "long" or (level == "large" and len(free) == 1):
            for axis in free:
                sizes[axis] = source.integer(1, 3)
            # The long dimension is the last one (long rows) in one trial, and the first (a large batch) in the next.
            axis = free[source.planned(0 if self.turn("sizes") % 2 else len(free) - 1, len(free))]
            rest = math.prod(sizes)
            if level == "long" and len(free) > 1 and axis == rank - 1:
                sizes[free[-2]] = UNLIKE_ROWS
            count = source.integer(*(LARGE if level == "long" else LESS_LARGE))
            size = max(2, count * sizes[axis] // max(rest, 1))
            sizes[axis] = with_seven_over(size) if level == "long" else at_blocks(size, self.turn("sizes"))
        elif level == "large":
            taken = math.prod(size for size in sizes if size is not None)
            each = (source.integer(*LARGE) / max(taken, 1)) ** (1 / len(free))
            for axis in free:
                sizes[axis] = at_blocks(max(2, math.ceil(each) + source.integer(0, 2)), self.turn("sizes"))
        elif level in ("nine", "seventeen"):
            for axis in free:
                sizes[axis] = source.integer(2, 5)
            past = (9, 8) if level == "nine" else (17, 33, 32)
            turn = source.planned(self.turn("sizes") % len(past), len(past))
            # Mostly long rows, which loops take in blocks, but also many rows, and a tall matrix: decompositions have a
            # path of their own for it.
            axis = {MANY_ROWS: free[0], VECTOR + 1: free[-2:][0]}.get(past[turn], free[-1])
            sizes[axis] = past[turn]
        else:
            # If numbers are to meet NaN and infinities of another array, there must be an element for each of them. In
            # one dimension the same holds for the kinds of tiny numbers.
            values = self.values
            many = values in NOT_FINITE or (values == "tiny" and len(free) == 1)
            least = _ROOM.get(len(free), 2) if level == "small" and many else 2
            end = max(7, least + 4)
            for axis in free:
                sizes[axis] = source.integer(least, end)
            alone = values == "nan" and not self.turn("values") % 2
            if level == "small" and (alone or (rank > 1 and values == "zeros")):
                # The last element, which decides any(), all() or NaN, comes after whole blocks.
                sizes[free[-1]] = 2 * VECTOR + 1
            if level == "ones":
                for axis in self._some(free, "sizes"):
                    sizes[axis] = 1
            made_equal(sizes, free, self._index)
        return tuple(sizes)

    def _partner(self, key: Any, ndim: Any, dims: Sequence[Any], number: int) -> Shape:
        common, first = self._partners[key]
        level, turns = self.level("partner"), self.turn("partner")
        if level == "same" or (level == "first" and (number < _THIRD or not turns % 2)):
            return common
        if number == _THIRD and level in ("second", "both") and not turns % 2:
            return common  # the second array has ones, and this one has none
        if level == "other":
            return common if all_open(ndim, dims) else self._sizes(len(common), dims, "small")
        if level == "fewer" and common and all_open(ndim, dims):
            # In turn, the first array has one dimension less, the second has a single dimension, the second has none.
            return common if not turns else common[len(common) if turns == 2 else -1 :]
        if level == "both":  # ones where the first array has none, if there is such a dimension
            # Only a replay that changes single choices combines this with a first array of fewer dimensions.
            met = (1,) * (len(common) - len(first)) + first
            wide = [axis for axis in open_axes(common, dims) if met[axis] != 1]
            if len(common) > _FEW_DIMENSIONS and wide:
                # Ones in all of these, so that two trials cover more than half of the pairs of dimensions.
                return with_ones_at(common, wide)
            return self._with_ones(common, dims, wide or None)
        if level == "fewer" and turns == _FIRST_SINGLE:
            return common
        if level == "fewer" and not turns:
            return single_number(common, dims)
        if level == "fewer" and len(common) > _FEW_DIMENSIONS:
            # The rank is given: ones before and after the channels, like a bias or a scale per channel.
            return with_ones_at(common, [axis for axis in open_axes(common, dims) if axis != 1])
        return self._with_ones(common, dims)

    def _with_ones(self, shape: Shape, dims: Sequence[Any], axes: list[int] | None = None) -> Shape:
        ones = self._some(open_axes(shape, dims) if axes is None else axes, "partner")
        return with_ones_at(shape, ones)

    def _some(self, axes: Sequence[int], factor: str) -> set[int]:
        """Return at least one of `axes`, if there are any. Trials with the same level of `factor` take turns."""
        if not axes:
            return set()
        source, taken = self._source, self.turn(factor)
        # At level ``second`` the last axis comes first, and at ``first`` it comes second: the first and the last axis
        # of both arrays have their turns within four trials.
        level = LEVELS[_PLACES["partner"]][self._row.partner] if factor == "partner" else ""
        start = {"second": taken - 1, "first": -taken, "fewer": taken + 1}.get(level, taken)
        surely = axes[source.planned(start % len(axes), len(axes))]
        others = taken % 3 == 2  # mostly a single 1, to which a fault can be attributed
        return {axis for axis in axes if axis == surely or (others and (factor == "partner" or source.boolean()))}

    def broadcasting(self, count: int, ndim: Any) -> tuple[Shape, ...]:
        """Return `count` shapes that broadcast together: equal, with ones in some dimensions, or with fewer dimensions.

        All have rank `ndim`. If it is None, the plan determines the rank, and some shapes may have fewer dimensions.
        """
        source = self._source
        number = self.begin_array()
        sizes, level = self.level("sizes", number), self.level("partner", number)
        common = self._sizes(self._rank(ndim, ()), (), "small" if sizes == "ones" and level != "same" else sizes)
        odd = source.index(2) if level == "both" else 0
        shapes = []
        for place in range(count):
            shape = common
            if level == "both":  # ones in other dimensions than in the shapes before and after it
                axes = [axis for axis in range(len(common)) if (axis + odd + place) % 2]
                shape = self._with_ones(shape, (), axes)
            elif level == "other" or (level == "first" and not place) or (level == "second" and place):
                shape = self._with_ones(shape, ())
            if level in ("fewer", "other") and place and ndim is None and shape:
                shape = shape[source.integer(0 if level == "other" else 1, len(shape) + 1) :]
            shapes.append(shape)
        return tuple(shapes)
