"""Sizes of dimensions that a test gives or leaves open, and the ranges of large ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from generators.annotations import DIMENSION
from generators.code_position import call_site
from generators.core import Generator
from generators.errors import is_test_mistake
from generators.shapes import Shape, checked_size
from generators.source import Source

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake

#: Range of the number of elements in a large array: more than a vectorised or threaded loop processes in one step.
LARGE = (4100, 6200)
#: The same for an array with a single open dimension, at level ``large``: the outer product of two such arrays is fast,
#: and that of longer ones is not.
LESS_LARGE = (1030, 1400)
#: Number of elements that a vectorised loop processes in one step.
VECTOR = 8
#: Greatest size that an array shares with another array that was requested with other arguments.
_MOST_SHARED = 512
#: The trials in which open dimensions of an array are equal. In the second of them, arrays are transposed.
_EQUAL_SIZES = frozenset((1, 3))


def drawn_size(size: Any, source: Source, axis: int) -> int:
    """Return the size of dimension `axis`, which is given as an int or a generator of one."""
    drawn = size.draw_in(source, DIMENSION) if isinstance(size, Generator) else size
    if type(drawn) is int and drawn >= 0:
        return drawn
    return checked_size(f"dim{axis}", drawn, call_site())


def open_axes(shape: Shape, dims: Sequence[Any]) -> list[int]:
    """Return the dimensions of `shape` for which `dims` gives no size."""
    return [axis for axis in range(len(shape)) if axis >= len(dims) or dims[axis] is None]


def with_sizes_of(other: tuple[Shape, Sequence[Any]], rank: int, dims: Sequence[Any], shift: int) -> Sequence[Any]:
    """Return the sizes `dims` of a shape of `rank` with those of another shape where both are open.

    Args:
        other: the other shape, and the sizes that the test gives for it.
        rank: the number of dimensions.
        dims: the sizes that the test gives; None is open, as is every dimension beyond the end.
        shift: the dimension of the other shape that belongs to dimension 0.
    """
    shape, theirs = other
    mine = {axis + shift: axis for axis in open_axes((0,) * rank, dims)}
    both = [axis for axis in open_axes(shape, theirs) if axis in mine and shape[axis] <= _MOST_SHARED]
    if not both:
        return dims
    sizes = [*dims, *[None] * (rank - len(dims))]
    for axis in both:
        sizes[mine[axis]] = shape[axis]
    return sizes


def with_ones_at(shape: Shape, axes: Collection[int]) -> Shape:
    """Return `shape` with a 1 in each of the dimensions `axes`."""
    return tuple([1 if axis in axes else size for axis, size in enumerate(shape)])


def single_number(shape: Shape, dims: Sequence[Any]) -> Shape:
    """Return `shape` with a 1 in each open dimension: if all are open, a single number of this rank."""
    return with_ones_at(shape, open_axes(shape, dims))


def made_equal(sizes: list[Any], free: Sequence[int], trial: int) -> None:
    """In two trials, make the dimensions `free` of an array as long as another one: as the last that the test gives.

    An operator that takes one dimension for another may tell them apart by their sizes, and one that ignores a
    transposition often does. In the other trials two sizes agree by chance only. The last dimension that the test gives
    is mostly one of a matrix, and the first one may be that of a batch.
    """
    if trial not in _EQUAL_SIZES:
        return
    given = [size for axis, size in enumerate(sizes) if axis not in free]
    size = given[-1] if given else max(sizes)
    if 1 < size <= VECTOR:
        for axis in free:
            sizes[axis] = size


def whole_blocks(size: int) -> int:
    """Return a multiple of 8, 16 or 256 near `size`, so that no elements remain after whole blocks."""
    block = 256 if size >= LESS_LARGE[0] else 16 if size >= 2 * VECTOR else VECTOR
    return max(1, round(size / block)) * block


def with_two_over(size: int) -> int:
    """Return a size near `size` that leaves two elements after blocks of four, or `size` if it is less than a block.

    A loop over what remains may take only the first element, which sizes of one more than a block do not show.
    """
    return size if size < VECTOR else size // 4 * 4 + 2


def at_blocks(size: int, turn: int) -> int:
    """Return a size near `size`: one of whole blocks in every second turn, else one with two elements over."""
    return whole_blocks(size) if turn % 2 else with_two_over(size)


def with_seven_over(size: int) -> int:
    """Return an odd size near `size`, which leaves seven elements after blocks of eight unless it is less than one.

    A loop over what remains may also take pairs, and only an odd size has an element after them.
    """
    return size | 1 if size < VECTOR else size // VECTOR * VECTOR + VECTOR - 1


def all_open(ndim: Any, dims: Sequence[Any]) -> bool:
    """Return whether the test gives neither the rank nor any size."""
    return ndim is None and all(size is None for size in dims)
