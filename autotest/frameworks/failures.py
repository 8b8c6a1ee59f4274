"""Errors of frameworks that are no results of a call: a dead process, a missing package, a name that does not exist."""

from __future__ import annotations

from typing import Final

from autotest.base.errors import FrameworkMissing
from autotest.comparison import Symptom
from autotest.comparison.rejection import is_out_of_memory


class _Absent:
    """The type of `ABSENT`, a sentinel that is equal to no object of a framework."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


class CandidateDied(RuntimeError):
    """The process of a framework has ended, and all its values are lost."""


class CandidateHung(CandidateDied):
    """The process of a framework did not reply in time and was killed."""


def symptom_of(error: Exception) -> Symptom:
    """Return the symptom of a call that only the reference accepts, by the `error` that ended it."""
    if isinstance(error, CandidateDied):
        return "hang" if isinstance(error, CandidateHung) else "crash"
    return "out of memory" if is_out_of_memory(error) else "exception"


class Absent(AttributeError):
    """A framework lacks something that a call needs. This is not a finding: it is the reason why a trial cannot run."""

    def __init__(self, framework: str, what: str) -> None:
        super().__init__(f"{framework} has no {what}")


def nothing_of_its_own(name: str) -> str:
    """Return why a trial of the candidate called `name` compares nothing: it called only what is the reference's."""
    return f"{name} has none of the operators that are called"


def missing(name: str, error: BaseException) -> FrameworkMissing:
    """Return the error to raise if the import of the framework called `name` fails with `error`."""
    return FrameworkMissing(
        f"the framework {name!r} cannot be imported ({error}); install it, or choose another candidate "
        f"with AUTOTEST_CANDIDATE=NAME"
    )
