"""Brings values of another record, which a fixture or the top of a file made, into the record of a trial."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from autotest.base.errors import UsageError
from autotest.frameworks import ABSENT, Framework
from autotest.program import Array, Captured, Operand, Ref, map_call
from autotest.program.semantics import left_for_good
from autotest.recording.drawn_result import Mask
from autotest.recording.other_candidates import is_of_another_candidate, made_again
from autotest.recording.record import Record
from autotest.recording.recorder import Recorder


def import_value(record: Recorder, other: Record, slot: int) -> int:
    """Import the value in `slot` of the record `other`, and return its slot in `record`.

    A tensor becomes an input with its present contents. Any other value is imported with the calls that made it, and a
    module also with its present state.
    """
    expected, actual, anew = other.expected[slot], other.actual[slot], is_of_another_candidate(record, other)
    known = record.imported.get(id(expected))
    if known is not None:
        return known
    if isinstance(expected, record.pair.reference.tensor_types):
        value = record.pair.reference.values([expected])[0]
        array = value.as_array()
        kwargs: dict[str, Operand] = {"requires_grad": value.requires_grad, "device": value.device}
        call = record.next_call("tensor", array.dtype, (record.capture(array),), kwargs)
        if anew:
            other.has_stand_ins, offset = True, record.imported.get(id(other))
            made = made_again(record, call, [], record.arrays, expected) if offset is None else None
            actual = made if offset is None else record.actual[offset + slot]
        new = record.write(call, expected, actual)
        # The body may have changed the reference's tensor in a trial with another candidate.
        if other.is_undefined(slot) or (other.has_stand_ins and not anew):
            _share_contents(record, new, array)
        _forget_gradients(record.pair.reference, [expected])
        _forget_gradients(record.pair.candidate, [actual])
        _carry_hooks(record, other, {id(expected): new})
    else:
        new = _import_calls(record, other) + slot
        reference = record.pair.reference
        if other.has_stand_ins and reference.optimized(expected) and reference.remembers_steps(expected):
            raise UsageError(
                f"{type(expected).__name__} was made outside of the body and has the state of steps in trials with "
                "other candidates: make the optimizer in the body, or run the test with one candidate"
            )
        if isinstance(expected, record.pair.reference.module_types):
            _import_state(record, new, expected, record.actual[new], given=other.has_stand_ins)
    record.imported[id(expected)] = new
    return new


def _share_contents(record: Record, slot: int, array: Array) -> None:
    """Give the candidate's tensor in `slot` the contents `array` of the reference's, because each side has its own."""
    candidate, actual = record.pair.candidate, record.actual[slot]
    if not isinstance(actual, candidate.tensor_types):
        return
    try:
        candidate.overwrite(actual, array)
    except Exception:  # noqa: BLE001 - for example elements that share memory
        record.mark_undefined(slot, record.expected[slot])


def _import_calls(record: Recorder, other: Record) -> int:
    known = record.imported.get(id(other))
    if known is not None:
        return known
    offset, first_array = len(record.calls), len(record.arrays)
    record.arrays.extend(other.arrays)
    record.opaque = record.opaque or other.opaque

    def moved(leaf: Operand) -> Operand:
        if type(leaf) is Ref:
            return Ref(leaf.slot + offset)
        return Captured(leaf.index + first_array) if type(leaf) is Captured else leaf

    anew = is_of_another_candidate(record, other)
    other.has_stand_ins = other.has_stand_ins or anew
    made: list[Any] = []
    for call, expected, first in zip(other.calls, other.expected, other.actual, strict=True):
        actual = made_again(record, call, made, other.arrays, expected) if anew else first
        made.append(actual)
        again = map_call(call, moved)
        record.write(record.next_call(call.kind, call.target, again.args, again.kwargs, call.note), expected, actual)
        left = left_for_good(other.calls, call) if anew else None
        if left is not None:
            made[left] = record.actual[offset + left] = ABSENT  # OneFlow's no_grad ends only when it is destroyed
    record.imported[id(other)] = offset
    record.held.append(other)
    _import_undefined(record, other, offset)
    _carry_hooks(record, other, {id(value): offset + slot for slot, value in enumerate(other.expected)})
    return offset


def _import_undefined(record: Record, other: Record, offset: int) -> None:
    """Mark as undefined in `record` what is so in `other`, whose calls were imported with slots moved by `offset`."""
    record.undefined |= other.undefined
    record.undefined_slots.update(slot + offset for slot in other.undefined_slots)
    record.held.extend(other.held)
    for slot, drawn in other.drawn.items():
        moved = drawn
        if isinstance(drawn, Mask):
            moved = dataclasses.replace(drawn, operand=Ref(drawn.operand.slot + offset))
        record.drawn[slot + offset] = moved


def _carry_hooks(record: Record, other: Record, slots: Mapping[int, int]) -> None:
    """Let the hooks on gradients of tensors of `other` run in `record`, too; `slots` is by id of the tensor."""
    if other.modules.gradient_hooks is not None:
        other.modules.gradient_hooks.carry_to(record, slots)


def _import_state(record: Record, slot: int, expected: Any, actual: Any, *, given: bool) -> None:
    """Record the present state of an imported module; with `given`, the candidate's does not have it and gets it."""
    reference, candidate = record.pair.reference, record.pair.candidate
    if reference.draws(expected):
        record.random_modules.add(id(expected))
    parameters = reference.parameters(expected)
    own = {**parameters, **reference.buffers(expected)}
    arrays = {name: value.as_array() for name, value in zip(own, reference.values(list(own.values())), strict=True)}
    if arrays:
        operands = {name: record.capture(array) for name, array in arrays.items()}
        if given:
            candidate.load_state(actual, arrays)
        record.write(record.next_call("load_state", "", (Ref(slot), operands), {}), None, None)
    for side, tensors in ((reference, parameters), (candidate, candidate.parameters(actual))):
        _forget_gradients(side, tensors.values())


def _forget_gradients(side: Framework, tensors: Iterable[Any]) -> None:
    """Clear the gradients that earlier trials accumulated, which do not belong to this one."""
    for tensor in tensors:
        # OneFlow 0.9.0 cannot differentiate by a parameter whose `grad` was assigned before its first use.
        if side.holds_gradient(tensor) and side.gradient(tensor) is not None:
            side.forget_gradient(tensor)
