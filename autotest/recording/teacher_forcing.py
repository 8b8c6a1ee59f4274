"""Continues after a call that the candidate is known to refuse, with the reference's result on both sides."""

from __future__ import annotations

from typing import Any

from autotest.comparison import Mismatch
from autotest.program import Call, Ref
from autotest.program.semantics import is_class, overwritten_operand
from autotest.recording.lowering import LiveRecord

#: Note of the calls that replace a refused call by the result of the reference.
NOTE = "as the reference computes it"
_PLAIN = (bool, int, float)


class KnownRefusal(Exception):
    """The candidate refused a call, and the refusal is known; `slot` contains the value that replaces the result."""

    def __init__(self, slot: int) -> None:
        self.slot = slot


def none_is_known(mismatch: Mismatch) -> bool:
    """Return False: no refusal is known, so the trial ends with the first call that the candidate refuses."""
    return False


def force(recorder: LiveRecord, slot: int, expected: Any) -> None:
    """Replace call `slot`, the last one, by the reference's result `expected`, and remove its mismatch.

    If no value can replace the result, return and leave the record unchanged.

    Raises:
        KnownRefusal: the call is replaced; the exception has the slot of the replacement.
    """
    call, mismatch = recorder.calls[slot], recorder.mismatches[-1]
    given = (recorder.expected[slot], recorder.actual[slot])
    if is_class(call) or any(map(recorder.is_undefined, range(slot + 1))):
        return
    _take_back(recorder, slot)
    made = _instead(recorder, call, expected)
    if made is not None:
        raise KnownRefusal(made)
    _put_back(recorder, call, given, mismatch)


def _take_back(recorder: LiveRecord, slot: int) -> None:
    for listed in (recorder.calls, recorder.expected, recorder.actual):
        del listed[slot:]
    del recorder.mismatches[-1]


def _put_back(recorder: LiveRecord, call: Call, given: tuple[Any, Any], mismatch: Mismatch) -> None:
    recorder.write(call, *given)
    recorder.mismatches.append(mismatch)


def _instead(recorder: LiveRecord, call: Call, expected: Any) -> int | None:
    owner = overwritten_operand(call)
    if owner is not None:
        return _overwritten(recorder, owner.slot)
    if type(expected) in (tuple, list):
        parts = [_input(recorder, item) for item in expected]
        if not parts or any(part is None for part in parts):
            return None
        kind = type(expected)
        sides = [
            kind(side[part] for part in parts if part is not None) for side in (recorder.expected, recorder.actual)
        ]
        operand = kind(Ref(part) for part in parts if part is not None)
        return recorder.write(recorder.next_call("builtin", kind.__name__, (operand,), {}), *sides)
    if type(expected) in _PLAIN:
        call = recorder.next_call("builtin", type(expected).__name__, (expected,), {})
        return recorder.write(call, expected, expected)
    return _input(recorder, expected)


def _input(recorder: LiveRecord, expected: Any) -> int | None:
    """Record an input with the values of the reference's tensor `expected`; return its slot, or None if it cannot."""
    pair = recorder.pair
    if not isinstance(expected, pair.reference.tensor_types):
        return None
    value = pair.reference.values([expected])[0]
    array, grad = value.as_array(), bool(value.requires_grad)
    try:
        pair.candidate.tensor(array, device=value.device, requires_grad=grad)
    except Exception:  # noqa: BLE001 - for example a dtype that it lacks: there is no replacement then
        return None
    return recorder.tensor(array, requires_grad=grad, device=value.device, note=NOTE)


def _overwritten(recorder: LiveRecord, slot: int) -> int | None:
    """Overwrite the candidate's tensor in `slot` with the reference's, which the call wrote into; None if it cannot."""
    pair = recorder.pair
    expected, actual = recorder.expected[slot], recorder.actual[slot]
    if not isinstance(expected, pair.reference.tensor_types) or not isinstance(actual, pair.candidate.tensor_types):
        return None
    array = pair.reference.values([expected])[0].as_array()
    try:
        pair.candidate.overwrite(actual, array)
    except Exception:  # noqa: BLE001 - for example a different shape: there is no replacement then
        return None
    recorder.write(recorder.next_call("overwrite", "", (Ref(slot), recorder.capture(array)), {}, NOTE), None, None)
    return slot
