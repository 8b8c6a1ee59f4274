"""What the candidate raises when a value of it is looked at is a finding about the call that made the value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from autotest.base.errors import AutotestError
from autotest.comparison import Mismatch, Stage
from autotest.comparison.rejection import first_line
from autotest.frameworks import Absent
from autotest.frameworks.failures import CandidateDied
from autotest.frameworks.states import StateDiffers
from autotest.program import operator_of
from autotest.program.semantics import is_class
from autotest.recording.adapter_errors import blame_adapter
from autotest.recording.record import Record

T = TypeVar("T")

#: Exceptions that already say what they are about.
_SAID = (AutotestError, CandidateDied, Absent, StateDiffers)


class Unreadable(Exception):
    """Raised if the candidate raises `error` when the value in `slot` is looked at."""

    def __init__(self, slot: int, error: Exception) -> None:
        super().__init__(str(error))
        self.slot, self.error = slot, error


def of_candidate(slot: int, read: Callable[..., T], *values: Any) -> T:
    """Return ``read(*values)``, which looks at the candidate's value in `slot`; raise `Unreadable` if that raises."""
    try:
        return read(*values)
    except _SAID:
        raise
    except Exception as error:
        raise Unreadable(slot, error) from error


def unreadable(record: Record, failed: Unreadable) -> Mismatch:
    """Return the mismatch of a value of the candidate that cannot be looked at.

    Raises:
        AdapterWrong: no tensor can be looked at.
    """
    blame_adapter(record.pair.candidate, failed.error)
    reference, candidate = record.pair.sides
    call, operator = record.calls[failed.slot], operator_of(record.calls, failed.slot)
    what = f"its result raised {type(failed.error).__name__} when it was read: {first_line(failed.error)}"
    message = f"{operator}: {candidate}: {what}. expected={reference} actual={candidate}"
    stage: Stage = "build" if is_class(call) else "forward"
    return Mismatch(operator, failed.slot, "exception", stage, "candidate", message, what=what)
