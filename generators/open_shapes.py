"""Draws the shapes of one trial's arrays that a test leaves open, so that they fit together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from types import MappingProxyType
from typing import Any

from generators.annotations import SIZE
from generators.code_position import call_site, location
from generators.core import Generator
from generators.errors import GeneratorError, is_test_mistake
from generators.levels import BLOCK
from generators.open_sizes import VECTOR, all_open, drawn_size, open_axes, single_number, with_ones_at, with_sizes_of
from generators.planned_sizes import planned_sizes, some_axes
from generators.shapes import Shape
from generators.trial_features import HUGE_SIZES, TrialFeatures

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake

#: Greatest number of dimensions for which two trials at level ``both`` combine a 1 in each dimension of the first array
#: with a 1 in another dimension of the second.
_FEW_DIMENSIONS = 2
#: Least open rank when the ranks of two arrays differ, by level of `partner` and by turn. At ``fewer`` the arrays have
#: one and two dimensions, four and one, three and none; in the second trial at ``first`` none and three. At ``other``
#: both have two, one of which is often long.
_UNLIKE_RANKS = MappingProxyType({"fewer": (2, 4, 3), "first": (0, 3), "other": (2,)})
#: Turn of level ``fewer`` in which the first array is a single number if the test gives the rank. In turn 0, the second
#: array is one. Many operators have a separate path for a single number, whatever its rank. In the second trial at
#: level ``first`` a first array of truth values is one, too, because it is either true or false.
_FIRST_SINGLE = 2
#: Index of the third array of a trial, requested with the same arguments as the first two; and by turn of level
#: ``same``, the one of its open dimensions in which it alone has a 1. In the second of these, arrays are large.
_THIRD = 2
_THIRD_ALONE = MappingProxyType({7: slice(-1, None), 9: slice(1)})
#: By turn of level ``same``, the dimensions in which the second array has ones if there are more than two, all of them
#: open: all but the last one, as a bias has, and those between the first and the last one, as a mask for each head has.
_ONES_OF_MANY = MappingProxyType({5: slice(0, -1), 8: slice(1, -1)})
#: Turn of level ``same`` in which the second array is a vector beside a matrix if the rank is open.
_VECTOR_SECOND = 5


class OpenShapes:
    """The shapes of one trial so far, with which later ones are equal or broadcast."""

    __slots__ = ("_commons", "_features", "_partners")

    def __init__(self, features: TrialFeatures) -> None:
        self._features = features
        #: ``(ndim, *dims)`` -> the common shape of the arrays with these arguments, and the shape of the first of them.
        self._partners: dict[Any, tuple[Shape, Shape]] = {}
        #: Rank -> the first shape of this rank that was drawn, and the `dims` that the test gave for it.
        self._commons: dict[int, tuple[Shape, Sequence[Any]]] = {}

    def shape(self, ndim: Any, dims: Sequence[Any], number: int, least: int = 0, *, of_truth: bool = False) -> Shape:
        """Return a shape of rank `ndim` with sizes `dims`; those that are None, or beyond the end of `dims`, are drawn.

        Arrays with the same arguments get the same shape, or shapes that broadcast together. `number` is the index of
        the array in its trial, and `of_truth` tells whether it has truth values. An open rank is `least` or more; above
        0, no array has fewer dimensions than another.
        Raises `GeneratorError` if `ndim` or a size is not valid.
        """
        key = (ndim, *dims)
        try:
            known = key in self._partners
        except TypeError:  # an argument is not hashable, such as a list
            names = ("ndim", *(f"dim{at}" for at in range(len(dims))))
            name, size = next(pair for pair in zip(names, key, strict=True) if not isinstance(pair[1], Hashable))
            raise GeneratorError(f"{name}={size!r} at {location(call_site())}: expected a whole number >= 0") from None
        if known:
            return self._partner(key, len(self._partners[key][0]) if least else ndim, dims, number)
        rank, features = self._rank(ndim, dims, least), self._features
        if not open_axes((0,) * rank, dims):
            return tuple([drawn_size(size, features.source, axis) for axis, size in enumerate(dims[:rank])])
        # The trial's own level of sizes is for the first array that leaves sizes open.
        sizes, partner = features.level("sizes", number if self._partners else 0), features.level("partner", number)
        shared = dims if ndim is None else self._shared(rank, dims)
        if shared is not dims:
            common = planned_sizes(features, rank, shared, sizes)
            self._partners[key] = (common, common)
            return self._partner(key, rank if least else ndim, dims, number)
        first = not self._partners
        if first and partner in ("first", "both") and sizes not in HUGE_SIZES:
            common, own = self._with_ones_in_the_first(rank, dims, sizes, partner)
        elif first and partner == "other" and ndim is not None and self._is_tried_again(rank, dims):
            # A column, or what a bias is, as the first array. At level ``first`` the column is all zeros.
            common = planned_sizes(features, rank, dims, "small")
            own = with_ones_at(common, [1] if rank == _FEW_DIMENSIONS else range(rank - 1))
        else:
            common = own = planned_sizes(features, rank, dims, sizes)
        if first:
            own = self._of_fewer(own, rank if least else ndim, dims, partner, of_truth=of_truth)
        self._commons.setdefault(rank, (common, dims))
        self._partners[key] = (common, own)
        return own

    def _with_ones_in_the_first(self, rank: int, dims: Sequence[Any], sizes: str, partner: str) -> tuple[Shape, Shape]:
        """Return the common shape of several arrays, and that of the first one, which has ones and broadcasts to it."""
        features = self._features
        if partner == "both" and features.turn("partner") % 2 and len(open_axes((0,) * rank, dims)) == 1:
            # With a single open dimension the first array would be a single number each time.
            common = planned_sizes(features, rank, dims, sizes)
            return common, common
        # Ones in the common shape would leave nothing to broadcast.
        common = planned_sizes(features, rank, dims, "small" if sizes == "ones" else sizes)
        own = self._of_the_first(common, dims, partner)
        if own[-1:] == (1,) and len(common) - 1 in open_axes(common, dims) and max(own) > VECTOR > common[-1]:
            # The first array is a column: a loop over the rows of the second one repeats it past a block.
            common = (*common[:-1], 2 * VECTOR + 1)
        if max(common, default=0) > VECTOR > max(own, default=0) and len(open_axes(common, dims)) > 1:
            # The first array has a 1 in the dimension that is longer than a block: make another dimension the long one.
            return _past_a_block_elsewhere(common, own, dims)
        return common, own

    @staticmethod
    def _are_many(shape: Shape, dims: Sequence[Any]) -> bool:
        return len(shape) > _FEW_DIMENSIONS and len(open_axes(shape, dims)) == len(shape)

    def _is_tried_again(self, rank: int, dims: Sequence[Any]) -> bool:
        """Return whether the trial is one instead of a trial of unlike shapes, which the reference may have refused."""
        return self._features.index >= BLOCK and rank > 1 and len(open_axes((0,) * rank, dims)) == rank

    def _of_fewer(self, shape: Shape, ndim: Any, dims: Sequence[Any], partner: str, *, of_truth: bool) -> Shape:
        """Return the first `shape` of the trial with fewer dimensions or as a single number, if it is its turn."""
        turn = self._features.turn("partner")
        if all_open(ndim, dims):
            if partner == "fewer" and not turn:
                return shape[1:]
            if partner == "first" and turn % 2:
                return ()
            # A missing dimension broadcasts as a leading 1 does.
            return shape[1:] if partner == "first" and shape[:1] == (1,) else shape
        is_single = (partner == "fewer" and turn == _FIRST_SINGLE) or (of_truth and partner == "first" and turn % 2)
        return single_number(shape, dims) if is_single else shape

    def _of_the_first(self, common: Shape, dims: Sequence[Any], partner: str) -> Shape:
        """Return the first of two shapes that broadcast to `common`; it has ones."""
        axes = open_axes(common, dims)
        if partner == "both" and len(axes) > _FEW_DIMENSIONS:
            # It has ones where the second shape has none: in the first open dimension, and in the next such trial in
            # the second half of the open dimensions.
            alone = axes[0]
            axes = axes[len(axes) // 2 :] if self._features.turn("partner") % 2 else [alone]
            return with_ones_at(common, axes)
        return self._with_ones(common, dims)

    def _shared(self, rank: int, dims: Sequence[Any]) -> Sequence[Any]:
        """Return `dims` with the sizes of an earlier shape where both are open: batches, for example, have one size.

        Of shapes of two ranks, the last dimensions agree in one trial, as those of a matrix and a vector, and the first
        ones in the next, as those of scores and targets.
        """
        if not self._commons:
            return dims
        other = rank if rank in self._commons else next(iter(self._commons))
        from_the_first = (self._features.index + self._features.index // BLOCK) % 2
        return with_sizes_of(self._commons[other], rank, dims, 0 if from_the_first else other - rank)

    def _partner(self, key: Any, ndim: Any, dims: Sequence[Any], number: int) -> Shape:
        common, first = self._partners[key]
        level, turns = self._features.level("partner"), self._features.turn("partner")
        if level == "same" and number == _THIRD and turns in _THIRD_ALONE:
            return with_ones_at(common, open_axes(common, dims)[_THIRD_ALONE[turns]])
        if level == "same" and number == 1 and turns in _ONES_OF_MANY and self._are_many(common, dims):
            return with_ones_at(common, range(len(common))[_ONES_OF_MANY[turns]])
        if level == "same" and (number, turns) == (1, _VECTOR_SECOND) and all_open(ndim, dims):
            return common[-1:]
        if level == "same" or (level == "first" and (number < _THIRD or not turns % 2)):
            return common
        if number == _THIRD and level in ("second", "both") and not turns % 2:
            return common  # the second array has ones, and this one has none
        if level == "other":
            if self._is_tried_again(len(common), dims) or all_open(ndim, dims):
                return common
            return planned_sizes(self._features, len(common), dims, "small")
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

    def _rank(self, ndim: Any, dims: Sequence[Any], least: int) -> int:
        if ndim is None:
            least = max([least, *[axis + 1 for axis, size in enumerate(dims) if size is not None]])
            rank = int(self._features.level("rank"))
            if not rank and self._features.has_huge_sizes:
                rank = 1  # so that there is a dimension with many elements
            if rank:  # so that the partner with fewer dimensions still has some, if it is to have any
                ranks = _UNLIKE_RANKS.get(self._features.level("partner"), (0,))
                rank = max(rank, ranks[self._features.turn("partner") % len(ranks)])
            return max(least, rank)
        rank = ndim.draw_in(self._features.source, SIZE) if isinstance(ndim, Generator) else ndim
        if type(rank) is int and rank >= 0:
            return rank
        raise GeneratorError(f"ndim={rank!r} at {location(call_site())}: expected a whole number >= 0")

    def _with_ones(self, shape: Shape, dims: Sequence[Any], axes: list[int] | None = None) -> Shape:
        ones = some_axes(self._features, open_axes(shape, dims) if axes is None else axes, "partner")
        return with_ones_at(shape, ones)

    def broadcasting(self, count: int, ndim: Any, number: int, least: int) -> tuple[Shape, ...]:
        """Return `count` shapes that broadcast together: equal, with ones in some dimensions, or with fewer dimensions.

        All have rank `ndim`. If it is None, the plan determines the rank, and some shapes may have fewer dimensions,
        unless `least`, the least rank, is above 0.
        """
        source = self._features.source
        sizes, level = self._features.level("sizes", number), self._features.level("partner", number)
        common = planned_sizes(
            self._features, self._rank(ndim, (), least), (), "small" if sizes == "ones" and level != "same" else sizes
        )
        odd = source.index(2) if level == "both" else 0
        shapes = []
        for place in range(count):
            shape = common
            if level == "both":  # ones in other dimensions than in the shapes before and after it
                axes = [axis for axis in range(len(common)) if (axis + odd + place) % 2]
                shape = self._with_ones(shape, (), axes)
            elif level == "other" or (level == "first" and not place) or (level == "second" and place):
                shape = self._with_ones(shape, ())
            if level in ("fewer", "other") and place and ndim is None and shape and not least:
                shape = shape[source.integer(0 if level == "other" else 1, len(shape) + 1) :]
            shapes.append(shape)
        return tuple(shapes)


def _past_a_block_elsewhere(common: Shape, own: Shape, dims: Sequence[Any]) -> tuple[Shape, Shape]:
    """Return both shapes with the greatest size of `common` moved to an open dimension in which `own` has no 1."""
    longest = common.index(max(common))
    others = [axis for axis in open_axes(common, dims) if own[axis] == common[axis]]
    if not others:
        return common, own
    wide, short = [*common], [*own]
    wide[longest], wide[others[-1]] = common[others[-1]], common[longest]
    short[others[-1]] = common[longest]
    return tuple(wide), tuple(short)
