"""Detects reads beyond the inputs: the results change if other numbers are stored next to the inputs in memory."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autotest.frameworks import Framework
from autotest.program import COTANGENT, Program
from autotest.program.rewriting import assembled
from autotest.program.semantics import is_backward
from autotest.replaying.replay import replay
from autotest.sources.mutated_layouts import viewed
from autotest.sweeping.backward import results

#: Minimum number of elements on either side of an input.
_MARGIN: Final = 512
#: Their values, one per run. The signs differ, because infinity times 1 and infinity times 2 are the same.
_NUMBERS: Final = (-3, 0, 2)
#: Calls that may legitimately access the whole memory that a view is laid out in.
_MEMORY: Final = frozenset("as_strided as_strided_ as_strided_scatter set_ resize_ resize_as_ storage".split())


def reads_out_of_bounds(program: Program, framework: Framework) -> bool:
    """Whether the forward of `program` gives other results if other numbers are stored next to its inputs."""
    if any(call.target in _MEMORY for call in program.calls):
        return False
    forward = _forward(program)
    first, *others = (_given(_inside_larger(forward, number), framework) for number in _NUMBERS)
    return any(other != first for other in others)


def _forward(program: Program) -> Program:
    """Return `program` without its backward, and with inputs that do not require a gradient."""
    pushing = (call.slot for call in program.calls if call.note == COTANGENT or is_backward(call))
    calls = program.calls[: next(pushing, len(program.calls))]
    plain = [
        call._replace(kwargs={**call.kwargs, "requires_grad": False}) if call.kind == "tensor" else call
        for call in calls
    ]
    return assembled(plain, program.arrays, program.undefined)[0]


def _inside_larger(program: Program, number: int) -> Program:
    """Return `program` with inputs that are slices from the middle of larger arrays, filled with `number` elsewhere."""
    for index in [call.args[0].index for call in program.inputs()]:
        data = program.arrays[index].data
        own = np.atleast_1d(data)
        rows = _MARGIN * max(len(own), 1) // max(own.size, 1) + 1
        around = np.full((rows, *own.shape[1:]), number).astype(data.dtype)
        cut = slice(rows, rows + len(own)) if data.ndim else rows
        program = viewed(program, index, np.concatenate([around, own, around]), ("operator", "getitem", (cut,)))
    return program


def _given(program: Program, framework: Framework) -> list[bytes]:
    """Return the results of `framework` for `program`, as bytes; empty if it refuses the program."""
    ran = replay(program, framework)
    if ran.error is not None:
        return []
    tensors: list[Any] = [tensor for slot, _, tensor in results(program, ran) if slot not in program.undefined]
    return [value.data.tobytes() for value in framework.values(tensors)]
