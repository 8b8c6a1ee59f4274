"""Continues a trial after a call that the candidate is known to refuse, with the reference's result on both sides."""

from __future__ import annotations

from typing import Any

from autotest.comparison import Mismatch
from autotest.program import Call, Ref
from autotest.program.semantics import asked_in_place, in_place, is_class
from autotest.recording.lowering import LiveRecord

#: Note of inputs that replace the result of a call.
NOTE = "as the reference computes it"
_PLAIN = (bool, int, float)


class KnownRefusal(Exception):
    """The candidate refused a call, as is known. The replacement of its result is in `slot`."""

    def __init__(self, slot: int) -> None:
        self.slot = slot


def none_is_known(mismatch: Mismatch) -> bool:
    """Return False: the trial ends with the first call that the candidate refuses."""
    return False


def force(recorder: LiveRecord, slot: int, expected: Any) -> None:
    """Remove the last call and its mismatch, and replace its result by the reference's.

    Returns without any change if the result cannot be replaced.

    Args:
        recorder: the recorder of the trial.
        slot: the slot of the last call, which the candidate refused.
        expected: the reference's result.

    Raises:
        KnownRefusal: the result was replaced; the exception has the slot of the replacement.
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
    if call.args and type(call.args[0]) is Ref and (in_place(call) or asked_in_place(call)):
        return _overwritten(recorder, call.args[0].slot)
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
    """Create an input with the contents of the reference's tensor `expected`, and return its slot, or None."""
    pair = recorder.pair
    if not isinstance(expected, pair.reference.tensor_types):
        return None
    value = pair.reference.values([expected])[0]
    array, grad = value.as_array(), bool(value.requires_grad)
    try:
        pair.candidate.tensor(array, device=value.device, requires_grad=grad)
    except Exception:  # noqa: BLE001 - a dtype that it does not have, perhaps: then nothing stands for this
        return None
    return recorder.tensor(array, requires_grad=grad, device=value.device, note=NOTE)


def _overwritten(recorder: LiveRecord, slot: int) -> int | None:
    """Write the reference's contents of the tensor in `slot` into the candidate's. Return the slot, or None."""
    pair = recorder.pair
    expected, actual = recorder.expected[slot], recorder.actual[slot]
    if not isinstance(expected, pair.reference.tensor_types) or not isinstance(actual, pair.candidate.tensor_types):
        return None
    array = pair.reference.values([expected])[0].as_array()
    try:
        pair.candidate.overwrite(actual, array)
    except Exception:  # noqa: BLE001 - of another shape, perhaps: then nothing stands for this
        return None
    recorder.write(recorder.next_call("overwrite", "", (Ref(slot), recorder.capture(array)), {}, NOTE), None, None)
    return slot
