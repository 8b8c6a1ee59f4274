"""Shrinking: which program is simpler, and the passes that make arguments and kinds of inputs simpler.

The passes over calls, shapes and values are in `call_reduction`, `shape_reduction` and `content_reduction`.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autotest.program import Array, Program, leaves, with_leaves, without_keyword
from autotest.program.call_reduction import unread
from autotest.program.rewriting import with_arrays, with_call, without_gradients
from autotest.program.semantics import OPERATIONS, cotangent_arrays, is_backward

#: A shrinking pass: yields candidates for one program.
Pass = Callable[[Program], Iterator[Program]]


def is_simpler(program: Program, other: Program) -> bool:
    """Whether shrinking prefers `program` to `other`.

    Programs are compared by the number of calls, then of elements, dimensions, operands and wide or half-precision
    arrays, then by how unusual their literals and finally their array values are.
    """
    one, two = _size(program), _size(other)
    if one == two:  # only then, since this reads all elements
        return _disorder_of(program) < _disorder_of(other)
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


def _disorder_of(program: Program) -> float:
    """Return a measure of how unusual the values of all arrays are. A cotangent of zeros pushes nothing back."""
    silent = sum(1 for at in cotangent_arrays(program) if not program.arrays[at].data.any())
    return sum(map(_disorder, program.arrays)) + _SILENT * silent


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
#: Cost of a cotangent of zeros: it is kept only if the failure needs it, as zero times infinity does. Any gradient is
#: zero then, and a difference does not show what it should be.
_SILENT = 60.0


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
            if _is_repeated(items):
                alone = (*call.args[:place], items[0], *call.args[place + 1 :])
                yield unread(with_call(program, call._replace(args=alone)))
        for key, items in call.kwargs.items():
            if _is_repeated(items):
                yield unread(with_call(program, call._replace(kwargs={**call.kwargs, key: items[0]})))
        for position, item in enumerate(leaves((call.args, call.kwargs))):
            for plainer in _plainer(item):
                yield with_call(program, with_leaves(call, {position: plainer}))


def _is_repeated(items: Any) -> bool:
    """Return whether these are equal whole numbers, for which one may stand: that of a square kernel."""
    return type(items) is tuple and len(items) > 1 and all(type(one) is int and one == items[0] for one in items)


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
