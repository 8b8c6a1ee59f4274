"""Detects reads beyond the inputs: the results change if other numbers are stored next to the inputs in memory."""

from __future__ import annotations

import dataclasses
from typing import Final

import numpy as np

from autotest.base.settings import Tolerance
from autotest.comparison import TensorValue
from autotest.comparison.elementwise import Values, agree
from autotest.frameworks import Framework
from autotest.program import COTANGENT, Program
from autotest.program.rewriting import assembled, with_arrays, without_gradients
from autotest.program.semantics import is_backward
from autotest.replaying.agreement import results
from autotest.replaying.replay import Place
from autotest.sources.mutated_layouts import viewed

#: Minimum number of elements on either side of an input.
_MARGIN: Final = 512
#: Their values, one per run. The signs differ, because infinity times 1 and infinity times 2 are the same.
_NUMBERS: Final = (-3, 0, 2)
#: Calls that may legitimately access the whole memory that a view is laid out in.
_MEMORY: Final = frozenset("as_strided as_strided_ as_strided_scatter set_ resize_ resize_as_ storage".split())


def slots_read_out_of_bounds(program: Program, framework: Framework) -> frozenset[int]:
    """Return the calls in the forward of `program` whose results change with the numbers stored next to its inputs.

    Differences within the default tolerances are none: a sum may be rounded otherwise at another address.
    """
    if any(call.target in _MEMORY for call in program.calls):
        return frozenset()
    forward = _forward(program)
    larger = _inside_larger(forward)
    first = _results(larger, framework)
    others = [_results(_filled(larger, forward, number), framework) for number in _NUMBERS[1:]]
    changed = {
        place[0]
        for other in others
        for place in first.keys() | other.keys()
        if not _agree(first.get(place), other.get(place))
    }
    # A view follows each input.
    before = [slot for call in forward.calls for slot in ([call.slot] * (2 if call.kind == "tensor" else 1))]
    return frozenset(before[slot] for slot in changed)


def _agree(one: TensorValue | None, other: TensorValue | None) -> bool:
    if one is None or other is None:  # refused
        return False
    return one.data.shape == other.data.shape and agree(one.data, other.data, *Tolerance().of(one.dtype))


def _forward(program: Program) -> Program:
    """Return `program` without its backward, and with inputs that do not require a gradient."""
    pushing = (call.slot for call in program.calls if call.note == COTANGENT or is_backward(call))
    calls = program.calls[: next(pushing, len(program.calls))]
    return without_gradients(assembled(calls, program.arrays, program.undefined)[0])


def _inside_larger(program: Program) -> Program:
    """Return `program` with inputs that are slices of larger arrays, with the first of `_NUMBERS` around them."""
    for index in dict.fromkeys(call.args[0].index for call in program.inputs()):
        data = program.arrays[index].data
        rows = _margin(data)
        cut = slice(rows, rows + len(data)) if data.ndim else rows
        program = viewed(program, index, _surrounded(data, _NUMBERS[0]), ("operator", "getitem", (cut,)))
    return program


def _filled(larger: Program, program: Program, number: int) -> Program:
    """Return `larger`, which `_inside_larger` made of `program`, with another number around the inputs."""
    arrays = [*larger.arrays]
    for own, outer in zip(program.inputs(), larger.inputs(), strict=True):
        array = program.arrays[own.args[0].index]
        arrays[outer.args[0].index] = dataclasses.replace(array, data=_surrounded(array.data, number))
    return with_arrays(larger, arrays)


def _margin(data: Values) -> int:
    """Return the number of rows on either side of an input."""
    return _MARGIN * max(len(np.atleast_1d(data)), 1) // max(data.size, 1) + 1


def _surrounded(data: Values, number: int) -> Values:
    own = np.atleast_1d(data)
    around = np.full((_margin(data), *own.shape[1:]), number).astype(data.dtype)
    return np.concatenate([around, own, around])


def _results(program: Program, framework: Framework) -> dict[Place, TensorValue]:
    """Return the results of `framework` for `program`; empty if it refuses the program."""
    left_out = program.undefined | {call.slot for call in program.inputs()}
    return {
        place: value
        for place, value in results(program, framework).items()
        if type(value) is TensorValue and place[0] not in left_out
    }
