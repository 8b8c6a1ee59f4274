"""Shrinking passes that make arrays smaller, those candidates first that remove most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autotest.program import Array, Call, Program, map_call, refs
from autotest.program.numpy_scalars import is_whole
from autotest.program.rewriting import with_arrays, with_contents
from autotest.program.semantics import is_module_call


def shapes(program: Program) -> Iterator[Program]:
    """Yield programs with smaller arrays.

    First all arrays are flattened, then equal sizes are cut together, then single dimensions, then the rank is lowered.
    """
    yield from _much_smaller(program)
    yield from _slightly_smaller(program)


def shapes_of_numbers(program: Program) -> Iterator[Program]:
    """Yield programs with smaller arrays as `shapes` does, and some whose numbers are products or sums of neighbours.

    Numbers whose product or sum overflows are often many. Their products or sums are fewer, and overflow as well.
    """
    yield from _much_smaller(program)
    yield from _merged(program)
    yield from _slightly_smaller(program)


def _sizes(program: Program) -> list[int]:
    """Return the sizes of dimensions above 1, the greatest first."""
    return sorted({size for array in program.arrays for size in array.data.shape if size > 1}, reverse=True)


def _much_smaller(program: Program) -> Iterator[Program]:
    yield from _flattened(program)
    sizes = _sizes(program)
    for most in (1, 2) if sizes else ():
        yield from _resized(program, {size: min(size, most) for size in sizes})
    for size in sizes:
        for new in _less_than(size):
            if new <= size // 2:
                yield from _resized(program, {size: new})


def _slightly_smaller(program: Program) -> Iterator[Program]:
    for size in _sizes(program):
        for new in _less_than(size):
            if new > size // 2:
                yield from _resized(program, {size: new})
    for index, array in enumerate(program.arrays):
        for axis, size in enumerate(array.data.shape):
            for new in _less_than(size):
                for start in (0, size - new, _extreme(array, axis, size - new)):
                    yield with_contents(program, index, np.take(array.data, range(start, start + new), axis=axis))
    yield from _ranks(program)


def _less_than(size: int) -> list[int]:
    """Return the sizes to cut `size` to: 1, 2, half of it, and then ever closer to it.

    Each step halves the distance to `size`, so that a lower bound of the failing size is soon found.
    """
    halving = [size - (size >> shift) for shift in range(1, size.bit_length())]
    return [new for new in dict.fromkeys((1, 2, size // 2, *halving)) if 0 < new < size]


def _flattened(program: Program) -> Iterator[Program]:
    """Yield the program with all arrays flattened, if all arrays except 0-dim ones have the same number of elements."""
    counts = {array.data.size for array in program.arrays if array.data.ndim}
    if len(counts) == 1 and any(array.data.ndim > 1 for array in program.arrays):
        flat = [array.data.reshape(-1) if array.data.ndim > 1 else array.data for array in program.arrays]
        yield with_arrays(program, [Array(data, one.dtype) for data, one in zip(flat, program.arrays, strict=True)])


def _resized(program: Program, new: Mapping[int, int]) -> Iterator[Program]:
    """Yield programs in which each dimension of a size in `new` is cut to the new size.

    The part that is kept is taken from the start, from the end, or around the extreme element. For each of them there
    is a second program in which the integers in calls are replaced in the same way.
    """
    done: set[bytes] = set()
    for corner in ("first", "last", "extreme"):
        arrays = []
        for array in program.arrays:
            data = array.data
            for axis, size in enumerate(array.data.shape):
                wanted = new.get(size, size)
                starts = {"first": 0, "last": size - wanted, "extreme": _extreme(array, axis, size - wanted)}
                data = np.take(data, range(starts[corner], starts[corner] + wanted), axis=axis)
            arrays.append(Array(data, array.dtype))
        contents = b"".join(array.data.tobytes() for array in arrays)
        if contents in done:
            continue
        done.add(contents)
        smaller = with_arrays(program, arrays)
        yield smaller
        numbers = _numbers(smaller, lambda item: new.get(item, item))
        if numbers is not None:
            yield numbers


def _merged(program: Program) -> Iterator[Program]:
    """Yield programs in which neighbours along each dimension of a size are merged to their product or their sum."""
    for size in _sizes(program):
        for starts in _groups(size):
            for merge in (np.multiply, np.add):
                arrays = [Array(_grouped(one.data, size, starts, merge), one.dtype) for one in program.arrays]
                yield with_arrays(program, arrays)


def _groups(size: int) -> Iterator[Sequence[int]]:
    """Yield where groups of neighbours begin: all pairs, then one group of half, a quarter, … at either end."""
    yield range(0, size, 2)
    for shift in range(1, size.bit_length() - 1):
        many = max(size >> shift, 2)
        yield (0, *range(many, size))
        yield range(size - many + 1)


def _grouped(data: np.ndarray[Any, Any], size: int, starts: Sequence[int], merge: np.ufunc) -> np.ndarray[Any, Any]:
    """Return `data` with the groups that begin at `starts` merged along each dimension of `size`.

    Of a group of other values than floating-point numbers, the first one is kept.
    """
    for axis in [axis for axis, own in enumerate(data.shape) if own == size]:
        if data.dtype.kind == "f":
            with np.errstate(all="ignore"):
                data = merge.reduceat(data, starts, axis=axis, dtype=data.dtype)
        else:
            data = np.take(data, starts, axis=axis)
    return data


def _extreme(array: Array, axis: int, last: int) -> int:
    """Return the index along `axis` of the element of greatest magnitude, but at most `last`."""
    if not array.data.size or array.data.dtype.kind not in "fiu":
        return 0
    flat = int(np.argmax(np.abs(np.nan_to_num(array.data.astype(np.float64)))))
    return min(int(np.unravel_index(flat, array.data.shape)[axis]), last)


def _ranks(program: Program) -> Iterator[Program]:
    """Yield programs without the first or the last dimension, in all arrays at once or in one of them."""
    if any(array.data.ndim for array in program.arrays):
        for first in (True, False):
            fewer = with_arrays(program, [Array(_dropped(array.data, first), array.dtype) for array in program.arrays])
            yield fewer
            lower = _numbers(fewer, lambda item: item - 1 if item > 0 else item)
            if lower is not None:
                yield lower
    if any(map(_is_module_of_several, program.calls)):
        return  # of inputs of different ranks, torch's LSTMCell and GRUCell kill the process
    for index, array in enumerate(program.arrays):
        for first in (True, False):
            if array.data.ndim:
                yield with_contents(program, index, _dropped(array.data, first))


def _is_module_of_several(call: Call) -> bool:
    """Return whether `call` gives several tensors to a module."""
    return is_module_call(call) and len({*refs(call)}) > 2  # one of them is the module


def _dropped(data: np.ndarray[Any, Any], first: bool) -> np.ndarray[Any, Any]:
    if not data.ndim or not data.shape[0 if first else -1]:
        return data
    return np.array(data[0] if first else data[..., 0])


def _numbers(program: Program, change: Callable[[int], int]) -> Program | None:
    """Return `program` with `change` applied to the integers in its calls; None if that changes nothing."""

    def leaf(item: Any) -> Any:
        return change(item) if is_whole(item) else item

    replaced = [
        call if call.kind in ("tensor", "operator") and call.target != "getitem" else map_call(call, leaf)
        for call in program.calls
    ]
    if tuple(replaced) == program.calls:
        return None
    return Program(tuple(replaced), program.arrays, program.undefined)
