"""Shrinking passes: make smaller candidates of a failing program, those that remove most first."""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from autotest.program import Array, Program, leaves, map_call, with_leaves, without_keyword
from autotest.program.call_reduction import unread
from autotest.program.numpy_scalars import is_whole
from autotest.program.rewriting import with_arrays, with_call, with_contents, without_gradients
from autotest.program.semantics import OPERATIONS, is_backward

#: A shrinking pass: yields candidates for one program.
Pass = Callable[[Program], Iterator[Program]]


def is_simpler(program: Program, other: Program) -> bool:
    """Whether shrinking prefers `program` to `other`.

    Programs are compared by the number of calls, then of elements, dimensions, operands and wide or half-precision
    arrays, then by how unusual their literals and finally their array values are.
    """
    one, two = _size(program), _size(other)
    if one == two:  # only then, since this reads all elements
        return sum(map(_disorder, program.arrays)) < sum(map(_disorder, other.arrays))
    return one < two


def _size(program: Program) -> tuple[float, ...]:
    literals = [item for call in program.calls if call.kind != "tensor" for item in leaves((call.args, call.kwargs))]
    asking = sum(1 for call in program.inputs() if call.kwargs["requires_grad"])
    return (
        len(program.calls),
        elements(program),
        sum(array.data.ndim for array in program.arrays),
        len(literals) + asking,
        sum(1 for array in program.arrays if array.dtype in ("float16", "bfloat16", "float64")),
        sum(_oddness(item) for item in literals),
    )


def elements(program: Program) -> int:
    """Return the total number of elements in the arrays of `program`."""
    return sum(array.data.size for array in program.arrays)


def digest(program: Program) -> bytes:
    """Return a hash of the calls and arrays of `program`; equal programs have equal hashes."""
    found = hashlib.blake2b(repr(program.calls).encode(), digest_size=16)
    for item in leaves([(call.args, call.kwargs) for call in program.calls]):
        if isinstance(item, np.generic):  # its repr may be that of a Python number
            found.update(item.dtype.str.encode())
    for array in program.arrays:
        found.update(f"{array.dtype} {array.data.shape}".encode())
        found.update(array.data.tobytes())
    return found.digest()


def candidates(one: Pass, program: Program) -> Iterator[Program]:
    """Yield the candidates of pass `one` for `program`.

    An error that the pass raises ends only its own candidates, so that other passes can run.
    """
    with contextlib.suppress(ValueError, KeyError, IndexError, TypeError):
        yield from one(program)


def _oddness(item: Any) -> float:
    """Return a measure of how unusual a literal is: small nonnegative integers are the simplest."""
    if isinstance(item, np.generic):
        return _oddness(item.item()) + _OF_NUMPY
    if isinstance(item, (bool, int)):
        return abs(int(item)) + (0.5 if item < 0 else 0.0) if abs(item) < 1 << 40 else 1e12
    if isinstance(item, float):
        if not math.isfinite(item):
            return 50.0
        return min(abs(item), 40.0) if item == int(item) else 41.0 + (item * 2 != int(item * 2))
    return 0.0


def _disorder(array: Array) -> float:
    data = array.data
    if not data.size:
        return 0.0
    if data.dtype.kind not in "fiu":
        return float(len(np.unique(data)))
    finite = np.where(np.isfinite(data), data, 0.5).astype(np.float64)  # NaN and infinities count as fractions
    size = np.abs(finite)
    odd = np.where(finite == np.round(finite), np.minimum(size, 30.0 + np.log10(np.maximum(size, 1.0))), _FRACTION)
    return float(odd.sum()) + 2.0 * len(np.unique(finite))


#: Cost in `_oddness` of a scalar of NumPy in addition to that of the Python number.
_OF_NUMPY = 0.25
#: Cost of a fraction in `_disorder`, above that of any integer.
_FRACTION = 80.0
#: Magnitudes that greater values are replaced by.
_ROUND = (10.0, 100.0, 1e3, 1e4, 1e6, 1e9, 1e14, 1e19, 1e30)


# -- arguments ----------------------------------------------------------------------------------------------


def arguments(program: Program) -> Iterator[Program]:
    """Yield programs whose calls have fewer or simpler arguments."""
    for call in program.calls:
        if call.kind not in OPERATIONS:
            continue
        if call.kind != "operator" and not is_backward(call):
            for key in call.kwargs:
                yield unread(with_call(program, without_keyword(call, key)))
            if len(call.args) > 1:
                yield unread(with_call(program, call._replace(args=call.args[:-1])))
        for place, items in enumerate(call.args):
            if type(items) in (list, tuple) and len(items) > 1:
                for at in range(len(items)):
                    fewer = (*call.args[:place], items[:at] + items[at + 1 :], *call.args[place + 1 :])
                    yield unread(with_call(program, call._replace(args=fewer)))
        for position, item in enumerate(leaves((call.args, call.kwargs))):
            for plainer in _plainer(item):
                yield with_call(program, with_leaves(call, {position: plainer}))


def _plainer(item: Any) -> Iterator[Any]:
    if isinstance(item, np.generic):
        yield item.item()
        yield from map(type(item), _plainer(item.item()))
    elif item is True:
        yield False
    elif type(item) is int:
        yield from dict.fromkeys(value for value in (0, 1, 2, item // 2, item - 1, -item) if _less(value, item))
    elif type(item) is float:
        yield from dict.fromkeys(value for value in (0.0, 1.0, 2.0, 0.5, float(round(item, 0))) if _less(value, item))


def _less(value: Any, item: Any) -> bool:
    return _oddness(value) < _oddness(item)


# -- shapes -------------------------------------------------------------------------------------------------


def shapes(program: Program) -> Iterator[Program]:
    """Yield programs with smaller arrays.

    First all arrays are flattened, then equal sizes are cut together, then single dimensions, then the rank is lowered.
    """
    yield from _flattened(program)
    sizes = sorted({size for array in program.arrays for size in array.data.shape if size > 1}, reverse=True)
    if not sizes:
        yield from _ranks(program)
        return
    for most in (1, 2):
        yield from _resized(program, {size: min(size, most) for size in sizes})
    for size in sizes:
        for new in _less_than(size):
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
    for index, array in enumerate(program.arrays):
        for first in (True, False):
            if array.data.ndim:
                yield with_contents(program, index, _dropped(array.data, first))


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


# -- contents -----------------------------------------------------------------------------------------------


def contents(program: Program) -> Iterator[Program]:
    """Yield programs with simpler values: all equal, small integers, all but one equal."""
    for fill in (1, 0, 2, -1):
        yield with_arrays(program, [_filled(array, fill) for array in program.arrays])
    for index, array in enumerate(program.arrays):
        if not array.data.size or array.data.dtype.kind not in "fiub":
            continue
        for data in _simpler(array.data):
            yield with_contents(program, index, data)


def _filled(array: Array, fill: int) -> Array:
    return Array(np.full_like(array.data, fill), array.dtype) if array.data.dtype.kind == "f" else array


def _simpler(data: np.ndarray[Any, Any]) -> Iterator[np.ndarray[Any, Any]]:
    kind = data.dtype.kind
    for fill in (0, 1, 2, -1) if kind in "fi" else (0, 1):
        yield np.full_like(data, fill)
    if kind == "b":
        return
    for fill in (data.max(), data.min()):
        yield np.full_like(data, fill)
        if kind == "f" and np.isfinite(fill):
            yield np.full_like(data, np.ceil(fill))
            yield np.full_like(data, np.floor(fill))
    if kind == "f":
        yield np.round(data)
        yield np.round(data * 2) / 2
    if data.size > 1:
        finite = np.nan_to_num(data.astype(np.float64))
        at = np.unravel_index(int(np.argmax(np.abs(finite))), data.shape)
        for rest in (0, 1):
            odd = np.full_like(data, rest)
            odd[at] = data[at]
            yield odd
    greatest = float(data.reshape(-1)[int(np.argmax(np.abs(np.nan_to_num(data.astype(np.float64)))))])
    for size in _ROUND if math.isfinite(greatest) else ():
        if size < abs(greatest):
            yield np.where(np.abs(data) > size, np.asarray(math.copysign(size, greatest), data.dtype), data)


# -- kinds --------------------------------------------------------------------------------------------------


def kinds(program: Program) -> Iterator[Program]:
    """Yield programs whose inputs require no gradient or are float32."""
    yield without_gradients(program)
    for call in program.inputs():
        if call.kwargs["requires_grad"]:
            yield with_call(program, call._replace(kwargs={**call.kwargs, "requires_grad": False}))
    plain = [
        Array(array.data.astype(np.float32), "float32") if array.dtype in ("float16", "bfloat16", "float64") else array
        for array in program.arrays
    ]
    yield with_arrays(program, plain)


# -- what must not change ------------------------------------------------------------------------------------


def in_class(one: Pass) -> Pass:
    """Return a pass that yields only those candidates of pass `one` that keep the program's `shape_class`.

    This is for failures that carry little information. A crash on ordinary tensors is a different failure from one on
    empty tensors, even if both look alike, and a call that is rejected for both may be rejected for two reasons.
    """

    def alike(program: Program) -> Iterator[Program]:
        wanted = program.shape_class()
        return (smaller for smaller in one(program) if smaller.shape_class() == wanted)

    return alike


__all__ = [
    "arguments",
    "candidates",
    "contents",
    "digest",
    "elements",
    "in_class",
    "is_simpler",
    "kinds",
    "shapes",
]
