"""The interfaces that a campaign uses: the executor, the observer, and the function that saves progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from autotest.results.progress import CampaignProgress
from autotest.results.tasks import DiagnoseDeath, FindingRecord, Result, Task, Where

#: How many hangs may be diagnosed at a time in addition to the usual number of diagnoses.
_HANGS: Final = 2


class Executor(Protocol):
    """Interface for running tasks: `slots` tasks that explore at a time, and `diagnosis_slots` others that diagnose."""

    @property
    def slots(self) -> int: ...

    @property
    def diagnosis_slots(self) -> int: ...

    def start(self, task: Task) -> None: ...

    def wait(self, seconds: float) -> Sequence[tuple[Task, Result]]:
        """Return the finished tasks and their results; wait at most `seconds` for one, if the executor can wait."""


class Observer(Protocol):
    """Interface for receiving the events of a running campaign."""

    def changed(self, progress: CampaignProgress) -> None: ...

    def found(self, found: FindingRecord) -> None: ...

    def renamed(self, key: str, other: str) -> None:
        """Handle that diagnosis renamed the finding `key` to `other`: another finding, or an entry of the ledger."""


class NullObserver:
    """An `Observer` that does nothing; subclasses override the events that they need."""

    def changed(self, progress: CampaignProgress) -> None:
        """Do nothing."""

    def found(self, found: FindingRecord) -> None:
        """Do nothing."""

    def renamed(self, key: str, other: str) -> None:
        """Do nothing."""


class MissingFramework(NamedTuple):
    """The message of a worker that cannot import a framework."""

    what: str


def diagnosis_slots_for(jobs: int, hangs: int) -> int:
    """Return how many findings may be diagnosed beside `jobs` exploring workers, while `hangs` of them are hangs."""
    # A diagnosis mostly waits for a fresh interpreter; the diagnosis of a hang does nothing else.
    return max(1, jobs // 2) + min(hangs, _HANGS)


def is_of_hang(task: Any) -> bool:
    """Return whether `task` diagnoses a hang."""
    return isinstance(task, DiagnoseDeath) and task.identity.symptom == "hang"


#: Saves the progress of a campaign, with the trials that are running.
SaveProgress = Callable[[CampaignProgress, Mapping[Where, "list[range]"]], None]
