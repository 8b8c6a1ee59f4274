"""Tells that one side accepts a call and the other side refuses it, in trials and in replays."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autotest.base.errors import FrameworkMissing, as_test_mistake
from autotest.comparison import Mismatch, rejection
from autotest.comparison.rejection import Rejection, first_line
from autotest.frameworks import ABSENT, Absent, Framework, Pair
from autotest.frameworks.failures import symptom_of
from autotest.frameworks.freezing import freeze
from autotest.program import Call, Ref, operator_of
from autotest.recording.record import Record, stage_of


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
    found = refused_by_candidate(record.calls, slot, record.pair, error)
    if function is ABSENT:
        what = "has no such function"
        message = f"{target}: {reference} accepts, {candidate} {what}. expected={reference} actual={candidate}"
        found = dataclasses.replace(found, message=message, what=what)
    record.mismatches.append(found)
    return error


def refused_by_candidate(calls: Sequence[Call], slot: int, pair: Pair, error: Exception) -> Mismatch:
    """Return the mismatch of the call in `slot`, which the reference accepts and the candidate refuses with `error`."""
    reference, candidate = pair.sides
    operator, what = operator_of(calls, slot), f"{type(error).__name__}: {first_line(error)}"
    message = f"{operator}: {reference} accepts, {candidate} raised {what}. expected={reference} actual={candidate}"
    return Mismatch(operator, slot, symptom_of(error), stage_of(calls[slot]), "candidate", message, what=what)


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


def accepts(framework: Framework, attempt: Callable[[], Any]) -> bool:
    """Whether the call that `attempt` makes on `framework` succeeds; a lazy framework refuses when results are read."""
    try:
        freeze(framework, [framework.known(attempt())])
        framework.synchronize()
    except Exception:  # noqa: BLE001 - the framework may raise any exception
        return False
    return True


def accepted_by_candidate(calls: Sequence[Call], slot: int, pair: Pair, error: Exception) -> Mismatch:
    """Return the mismatch of the call in `slot`, which the reference refuses with `error` and the candidate accepts."""
    reference, candidate = pair.sides
    operator, reason = operator_of(calls, slot), f"{type(error).__name__}: {first_line(error)}"
    message = (
        f"{operator}: {reference} refuses ({reason}), {candidate} accepts. expected={reference} actual={candidate}"
    )
    what = f"accepts what is refused by {reason}"
    return Mismatch(operator, slot, "accepted", stage_of(calls[slot]), "candidate", message, what=what)
