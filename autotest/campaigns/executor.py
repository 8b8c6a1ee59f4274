"""What a campaign asks of whoever carries out its tasks, shows it, or writes down where it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from autotest.results.progress import CampaignProgress
from autotest.results.tasks import DiagnoseDeath, Found, Result, Task, Where

#: How many hangs are looked into at a time without keeping others from being looked into.
_HANGS: Final = 2


class Executor(Protocol):
    """Carries out tasks: explores in `slots` at a time, and diagnoses in `diagnosis_slots` more."""

    @property
    def slots(self) -> int: ...

    @property
    def diagnosis_slots(self) -> int: ...

    def start(self, task: Task) -> None: ...

    def wait(self, seconds: float) -> Sequence[tuple[Task, Result]]:
        """What was finished, waiting for it no longer than `seconds` where waiting is possible."""


class Observer(Protocol):
    """Is told what happens while a campaign runs."""

    def changed(self, progress: CampaignProgress) -> None: ...

    def found(self, found: Found) -> None: ...

    def renamed(self, key: str, other: str) -> None:
        """What was found as `key` is `other`, now that it was looked into: another finding, or one of the ledger."""


class IgnoresEvents:
    """An `Observer` that does nothing; a subclass says what it does with some events."""

    def changed(self, progress: CampaignProgress) -> None:
        """Nothing is done with it."""

    def found(self, found: Found) -> None:
        """Nothing is done with it."""

    def renamed(self, key: str, other: str) -> None:
        """Nothing is done with it."""


def diagnosis_slots_for(jobs: int, hangs: int) -> int:
    """How many findings may be diagnosed beside `jobs` workers that explore, while `hangs` of these are hangs."""
    # Most of what they do is to wait for a fresh interpreter; of what hangs, it is all.
    return max(1, jobs // 2) + min(hangs, _HANGS)


def is_of_hang(task: Any) -> bool:
    """Whether `task` is to look into a hang."""
    return isinstance(task, DiagnoseDeath) and task.identity.symptom == "hang"


#: Writes down where a campaign stands, with the trials that are under way.
SaveProgress = Callable[[CampaignProgress, Mapping[Where, "list[range]"]], None]


__all__ = ["Executor", "IgnoresEvents", "Observer", "SaveProgress", "diagnosis_slots_for", "is_of_hang"]
