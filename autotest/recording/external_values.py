"""Brings values into a record that its calls did not make, or made differently on the two sides."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from autotest.base.errors import UsageError
from autotest.comparison import Mismatch
from autotest.frameworks import ABSENT, Framework, Pair
from autotest.frameworks.states import difference
from autotest.program import Array, Captured, Operand, Ref, map_call
from autotest.program.semantics import left_for_good
from autotest.recording.drawn_result import Mask
from autotest.recording.lowering import Lowered
from autotest.recording.other_candidates import is_of_another_candidate, made_again
from autotest.recording.record import Record
from autotest.recording.recorder import Recorder
from autotest.recording.unreadable import Unreadable, of_candidate, unreadable


def random_state_before(pair: Pair, path: str) -> bytes:
    """Return the reference's random state if `path` is that of a class; empty if it is not."""
    return pair.reference.random_state() if path.rpartition(".")[2][:1].isupper() else b""


def synchronize_module(record: Recorder, slot: int, random_state: bytes) -> None:
    """Give the candidate's new module those initial parameters and buffers of the reference's that were drawn.

    The others, such as the ones of a batch norm, are the candidate's own, so that wrong ones show in what it computes.

    Args:
        record: the record of the trial.
        slot: the slot of the new module.
        random_state: the reference's before it made the module; empty if all its values count as drawn.
    """
    reference, expected = record.pair.reference, record.expected[slot]
    if reference.draws(expected):
        record.random_modules.add(id(expected))
    unlike = unlike_state(record, slot)
    if unlike is not None:
        record.mismatches.append(unlike)
        record.end()
    own = reference.state(expected)
    fresh = {name: value for name, value in own.items() if id(value) not in record.synced}
    record.synced.update(map(id, own.values()))
    record.held.extend(own.values())
    if fresh:
        _give_drawn(record, slot, fresh, random_state)


def reset_parameters(record: Recorder, owner: Lowered) -> int:
    """Call ``reset_parameters`` of both modules, give the candidate's what the reference's drew; return the slot."""
    reference = record.pair.reference
    random_state = reference.random_state()
    slot = record.method("reset_parameters", owner)
    if isinstance(owner[0], reference.module_types) and type(owner[2]) is Ref:
        _give_drawn(record, owner[2].slot, reference.state(owner[0]), random_state)
    return slot


def _give_drawn(record: Recorder, slot: int, own: Mapping[str, Any], random_state: bytes) -> None:
    """Give the candidate's module in `slot` those of the reference's parameters and buffers `own` that were drawn.

    `random_state` is the reference's before it set them; empty if all of them count as drawn.
    """
    reference, candidate = record.pair.reference, record.pair.candidate
    compared = bool(random_state) and candidate.initialises_modules
    if compared and reference.random_state() == random_state:
        return
    values = zip(own, reference.values([*own.values()]), strict=True)
    state = {name: value.as_array() for name, value in values if not (compared and _is_constant(value.data))}
    if not state:
        return
    try:
        of_candidate(slot, candidate.load_state, record.actual[slot], state)
    except Unreadable as failed:
        record.mismatches.append(unreadable(record, failed))
        record.end()
    operands = {name: record.capture(array) for name, array in state.items()}
    record.write(record.next_call("load_state", "", (Ref(slot), operands), {}), None, None)


def _is_constant(data: np.ndarray[Any, Any]) -> bool:
    """Return whether all of several numbers are equal, which drawn ones are not."""
    return data.size > 1 and bool((data == data.flat[0]).all())


def unlike_state(record: Record, slot: int) -> Mismatch | None:
    """Return the difference that keeps the new modules in `slot` from sharing a state, or None.

    It is one of names or shapes, or the candidate's state cannot be read.
    """
    reference, candidate = record.pair.reference, record.pair.candidate
    expected, actual = record.expected[slot], record.actual[slot]
    if not isinstance(expected, reference.module_types) or not isinstance(actual, candidate.module_types):
        return None
    own = [_shapes(reference, held(expected)) for held in (reference.parameters, reference.buffers)]
    candidate.expect_state(actual, *own)
    try:
        other = of_candidate(
            slot, lambda: [_shapes(candidate, held(actual)) for held in (candidate.parameters, candidate.buffers)]
        )
    except Unreadable as failed:
        return unreadable(record, failed)
    what = difference({**own[0], **own[1]}, {**other[0], **other[1]})
    return None if what is None else state_differs(record, slot, what)


def _shapes(side: Framework, held: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: side.shape(value) for name, value in held.items()}


def state_differs(record: Record, slot: int, what: str) -> Mismatch:
    """Return the mismatch for a new module in `slot` with other parameters or buffers; `what` says which."""
    reference, candidate = record.pair.reference, record.pair.candidate
    target = record.calls[slot].target
    message = f"{target}: {what}. expected={reference.name} actual={candidate.name}"
    return Mismatch(target, slot, "structure", "build", "candidate", message, what=what)


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
