"""Records that one side accepts a call which the other side refuses."""

from __future__ import annotations

from typing import Any

from autotest.comparison import Mismatch, Symptom, rejection
from autotest.comparison.rejection import Rejection, first_line, is_out_of_memory
from autotest.frameworks import ABSENT, Absent
from autotest.program import operator_of
from autotest.recording.record import Record, stage_of


def only_reference_accepts(record: Record, slot: int, function: Any, error: Exception) -> None:
    """Record that the candidate refused the call at `slot`.

    This is a mismatch. It is a rejection instead if a candidate that only translates names has no name for this call.

    Args:
        record: the record of the trial.
        slot: the slot of the call, which is written.
        function: the candidate's function that was called, or `ABSENT`.
        error: the exception that the candidate raised.
    """
    reference, candidate = record.pair.sides
    target = operator_of(record.calls, slot)
    unnamed = function is ABSENT or isinstance(error, AttributeError)
    if isinstance(error, Absent) or (unnamed and record.pair.candidate.translates):
        no_name = error if isinstance(error, Absent) else Absent(candidate, record.calls[slot].target)
        record.rejection = Rejection(target, rejection.ABSENT, str(no_name))
        return
    if function is ABSENT:
        what, told = "has no such function", f"{candidate} has no such function"
    else:
        what = f"{type(error).__name__}: {first_line(error)}"
        told = f"{candidate} raised {what}"
    message = f"{target}: {reference} accepts, {told}. expected={reference} actual={candidate}"
    stage = stage_of(record.calls[slot].kind, target, function)
    symptom: Symptom = "out of memory" if is_out_of_memory(error) else "exception"
    record.mismatches.append(Mismatch(target, slot, symptom, stage, "candidate", message, what=what))


def only_candidate_accepts(record: Record, slot: int, error: Exception) -> None:
    """Record the mismatch that the candidate accepts the call at `slot`, which the reference refused with `error`."""
    reference, candidate = record.pair.sides
    kind, target = record.calls[slot].kind, record.calls[slot].target
    reason = f"{type(error).__name__}: {first_line(error)}"
    what = f"accepts what is refused by {reason}"
    known_by = operator_of(record.calls, slot)
    message = (
        f"{known_by}: {reference} refuses ({reason}), {candidate} accepts. expected={reference} actual={candidate}"
    )
    stage = stage_of(kind, target, record.pair.resolve(target).expected if kind == "function" else None)
    record.mismatches.append(Mismatch(target, slot, "accepted", stage, "candidate", message, what=what))
