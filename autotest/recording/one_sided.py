"""Records that one side accepts a call and the other side refuses it."""

from __future__ import annotations

from typing import Any

import numpy as np

from autotest.base.errors import FrameworkMissing, as_test_mistake
from autotest.comparison import Mismatch, rejection
from autotest.comparison.rejection import Rejection, first_line
from autotest.frameworks import ABSENT, Absent
from autotest.frameworks.failures import symptom_of
from autotest.program import Ref, operator_of
from autotest.recording.record import Record, stage_at, stage_of


def only_reference_accepts(record: Record, slot: int, function: Any, error: Exception) -> Exception:
    """Record that the candidate refused the call at `slot` with `error`.

    This is a mismatch. But if the candidate only translates names and has none for this call, or raised `Absent`, the
    trial is rejected, and the call is removed again: it is no part of what both sides ran, which may be compared.

    Args:
        record: the record, with the call written.
        slot: slot of the refused call, the last one.
        function: the candidate's callable, or `ABSENT` if the candidate has none.
        error: the exception that the candidate raised.

    Returns:
        The exception to raise outside of trials: `error`, or an `Absent` that says what the candidate has no name for.

    Raises:
        FrameworkMissing: `error` is one: the candidate cannot be imported.
    """
    if isinstance(error, FrameworkMissing):  # a test may use it for the first time in its set-up
        raise error
    reference, candidate = record.pair.sides
    target = operator_of(record.calls, slot)
    unnamed = function is ABSENT or (isinstance(error, AttributeError) and not _is_about_data(error))
    special = _lacking_operator(record, slot) if isinstance(error, TypeError) else ""
    if isinstance(error, Absent) or ((unnamed or special) and record.pair.candidate.translates):
        no_name = error if isinstance(error, Absent) else Absent(candidate, special or record.calls[slot].target)
        no_name.__suppress_context__ = True  # it says all that the other error does
        record.rejection = Rejection(target, rejection.ABSENT, str(no_name))
        del record.calls[slot:], record.expected[slot:], record.actual[slot:]
        return as_test_mistake(no_name.with_traceback(None))  # without the frames of the adapter
    if function is ABSENT:
        what, text = "has no such function", f"{candidate} has no such function"
    else:
        what = f"{type(error).__name__}: {first_line(error)}"
        text = f"{candidate} raised {what}"
    message = f"{target}: {reference} accepts, {text}. expected={reference} actual={candidate}"
    stage = stage_of(record.calls[slot].kind, record.calls[slot].target, function)
    record.mismatches.append(Mismatch(target, slot, symptom_of(error), stage, "candidate", message, what=what))
    return error


def _lacking_operator(record: Record, slot: int) -> str:
    """Return the special method that the candidate's tensors lack for the operator called at `slot`; "" if none."""
    call = record.calls[slot]
    if call.kind != "operator":
        return ""
    operands = [record.actual[operand.slot] if type(operand) is Ref else operand for operand in call.args]
    return record.pair.candidate.lacking_operator(call.target, operands)


#: Types of plain data, which lack an attribute by a mistake in the candidate or its adapter.
_DATA = (list, tuple, dict, set, str, bytes, int, float, complex, type(None), np.ndarray, np.generic)


def _is_about_data(error: AttributeError) -> bool:
    """Return whether `error` says that plain data has no such attribute, and not a module or object of a framework."""
    return error.name is not None and isinstance(error.obj, _DATA)


def only_candidate_accepts(record: Record, slot: int, error: Exception) -> None:
    """Record a mismatch: the reference refused the call at `slot` with `error`, and the candidate accepted it."""
    reference, candidate = record.pair.sides
    reason = f"{type(error).__name__}: {first_line(error)}"
    what = f"accepts what is refused by {reason}"
    known_by = operator_of(record.calls, slot)
    message = (
        f"{known_by}: {reference} refuses ({reason}), {candidate} accepts. expected={reference} actual={candidate}"
    )
    record.mismatches.append(
        Mismatch(known_by, slot, "accepted", stage_at(record, slot), "candidate", message, what=what)
    )
