"""Compares what a trial computed from random numbers that each side drew for itself, such as the mask of a dropout.

The result of such a call differs on the two sides, and so does all that is computed from it. Therefore the program is
run again with the reference's random numbers on both sides: a dropout becomes a multiplication by a mask that is an
input, and the result of any other such call becomes an input.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.base.settings import Settings
from autotest.comparison import Mismatch, TensorValue
from autotest.frameworks import warnings_ignored
from autotest.program import Array, Call, Operand, Program, Ref, refs
from autotest.program.rewriting import assembled, tensor_call
from autotest.recording.drawn_result import DrawnResult, Mask
from autotest.recording.record import Record
from autotest.replaying.agreement import agree
from autotest.replaying.operator_of_mismatch import MismatchNames
from autotest.trials.special_values import mark_special

#: Note of these inputs.
NOTE = "drawn by the reference"


@np.errstate(all="ignore")
@warnings_ignored()
def compared_behind_masks(
    record: Record, shown: Sequence[Mismatch], settings: Settings
) -> tuple[list[Mismatch], Program] | None:
    """Compare the calls of a trial that read random numbers of a computation.

    Args:
        record: the record of the trial, which was not rejected.
        shown: the mismatches that the trial shows. If there are any, the result is None unless the new program shows
            the same one first: it is easier to diagnose, as it gives the same results each time.
        settings: the settings of the test.

    Returns:
        The mismatches, and the program that shows them. None if there are none, if the program cannot be replayed, or
        if other contents are undefined, too.
    """
    if record.opaque is not None:
        return None
    recorded = record.program()
    program = _with_inputs(recorded, record)
    if program is None:
        return None
    # The reference may reject the new program, which says nothing about the trial.
    settings = dataclasses.replace(settings, check_errors=False)
    agreement = agree(program, record.pair, settings)
    found = mark_special(agreement.record, agreement.mismatches, settings)
    if not found:
        return None

    def kind(program: Program, first: Mismatch) -> tuple[str, str, str]:
        # In `recorded`, what each side drew makes gradients differ, so that they lead to no call.
        names = MismatchNames(program, record.pair, settings, traces_gradients=False)
        return first.symptom, first.stage, names.operator(first)

    same = not shown or kind(recorded, shown[0]) == kind(program, found[0])
    return (found, program) if same else None


def _with_inputs(program: Program, record: Record) -> Program | None:
    """Return the `program` of `record` with inputs for what it drew, or None if it would still not be deterministic."""
    read = {ref.slot for call in program.calls for ref in refs(call)}
    given = {
        slot: drawn
        for slot, drawn in record.drawn.items()
        # What was written in place is read as the slot of the operand.
        if drawn is not None and (slot in read or (type(drawn) is Mask and drawn.in_place))
    }
    left = _left_undefined(program, [slot for slot in record.drawn if slot not in given and record.is_undefined(slot)])
    if not given or left is None:
        return None
    calls: list[Call] = []
    inputs = _Inputs(list(program.arrays), len(program.calls))
    for call in program.calls:
        calls += [call] if call.slot not in given else _without_drawing(call, given[call.slot], inputs)
    return assembled(calls, tuple(inputs.arrays), left)[0]


def repeatable(record: Record) -> Program:
    """Return the program of `record` with the masks that it drew as inputs, for checks that run it many times.

    It is the recorded program if the trial drew nothing, or anything but masks that a gradient passes: with such a
    result as an input, the gradients of what it was computed from would not be checked. Raises `NotReplayable`.
    """
    program = record.program()
    if not record.drawn or any(map(_carries_gradients, record.drawn.values())):
        return program
    return _with_inputs(program, record) or program


def _carries_gradients(drawn: DrawnResult) -> bool:
    if isinstance(drawn, (tuple, list)):
        return any(map(_carries_gradients, drawn))
    return isinstance(drawn, TensorValue) and drawn.requires_grad


def _without_drawing(call: Call, drawn: DrawnResult, inputs: _Inputs) -> list[Call]:
    """Return the calls that replace `call`: a multiplication by a mask if that is what it did, or else its result."""
    if type(drawn) is Mask:
        args: tuple[Operand, ...] = (drawn.operand, inputs.add(drawn.factors))
        made = call._replace(kind="operator", target="mul", args=args, kwargs={})
        if drawn.in_place:
            made = made._replace(kind="method", target="mul_")
    else:
        result = inputs.add(drawn)
        made = call._replace(kind="builtin", target=type(result).__name__, args=(result,), kwargs={})
        if type(result) is Ref:  # a copy, because a leaf that requires grad cannot be written to
            made = made._replace(kind="method", target="clone")
    return [*inputs.taken(), made]


@dataclasses.dataclass(slots=True)
class _Inputs:
    """Makes inputs: adds their contents to `arrays`, and numbers them from `free` on."""

    arrays: list[Array]
    free: int
    _made: list[Call] = dataclasses.field(default_factory=list)

    def add(self, value: Any) -> Operand:
        """Return the operand for `value`: a reference to a new input for a tensor, also inside of a tuple or list."""
        if type(value) in (tuple, list):
            return type(value)(self.add(item) for item in value)
        if type(value) is not TensorValue:
            return value
        self.arrays.append(value.as_array())
        at, array = len(self.arrays) - 1, self.arrays[-1]
        made = tensor_call(self.free, at, array, requires_grad=value.requires_grad, device=value.device, note=NOTE)
        self._made.append(made)
        self.free += 1
        return Ref(made.slot)

    def taken(self) -> list[Call]:
        """Return the calls that make the new inputs, each call once."""
        made, self._made = self._made, []
        return made


def _left_undefined(program: Program, sources: list[int]) -> set[int] | None:
    """Return the slots that stay undefined: `sources` and their items; None if anything else is computed from them."""
    found = set(sources)
    for call in program.calls:
        if any(ref.slot in found for ref in refs(call)):
            if call.target != "getitem":
                return None
            found.add(call.slot)
    return found
