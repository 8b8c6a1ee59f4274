"""Queues of the findings of a campaign that are still to be diagnosed, the most urgent first."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence

from autotest.results.identity import DEADLY
from autotest.results.tasks import Diagnose, DiagnoseDeath, FindingRecord

Diagnosis = Diagnose | DiagnoseDeath


class DiagnosisQueue:
    """The queues of failures between their first observation and their last diagnosis."""

    def __init__(self) -> None:
        self._seen: collections.deque[Diagnosis] = collections.deque()
        self._dead: collections.deque[Diagnosis] = collections.deque()
        self._kept: collections.deque[Diagnosis] = collections.deque()
        self._large: collections.deque[Diagnosis] = collections.deque()

    def __len__(self) -> int:
        """Return how many findings still lack a script that was run."""
        return len(self._dead) + len(self._kept) + len(self._large)

    @property
    def unstored(self) -> Sequence[Diagnosis]:
        """The queued tasks that store failures which are not on disk yet."""
        return self._seen

    def add_failure(self, task: Diagnosis) -> None:
        """Queue `task`, which stores a failure that is not on disk yet."""
        self._seen.append(task)

    def add_next(self, task: Diagnosis, found: FindingRecord) -> None:
        """Queue the task that follows `task`, which stored `found`."""
        if not task.thorough:
            # A death has no script before it is examined; any other failure has one from the start.
            if isinstance(task, DiagnoseDeath):
                _queue(self._dead, dataclasses.replace(task, thorough=True, shrink=False))
            else:
                self._kept.append(dataclasses.replace(task, thorough=True, identity=found.identity))
        elif isinstance(task, DiagnoseDeath) and not task.verify and (found.verified.holds or not found.verified.tried):
            _queue(self._large, dataclasses.replace(task, identity=found.identity, shrink=True, verify=True))

    def requeue(self, task: Diagnosis) -> None:
        """Queue `task` once more, behind the others: its first attempt killed a worker."""
        self._kept.append(task)

    def add_resumed(self, found: FindingRecord) -> None:
        """Queue the next task for a finding that an earlier run stored but did not finish."""
        if found.verified.holds:
            return
        if found.identity.symptom in DEADLY:
            message = found.message
            self._kept.append(
                DiagnoseDeath(found.where, found.index, found.identity, message, thorough=True, shrink=False)
            )
        else:
            self._kept.append(Diagnose(found.where, found.index, thorough=True, identity=found.identity))

    def next_unstored(self) -> Diagnosis | None:
        """Return the oldest task that stores a failure on disk, which must not wait; None if there is none."""
        return self._seen.popleft() if self._seen else None

    def next(self) -> Diagnosis | None:
        """Return the next task that examines a stored finding further; None if there is none."""
        return next((queue.popleft() for queue in (self._dead, self._kept, self._large) if queue), None)

    def next_unshrunk(self) -> Diagnosis | None:
        """Return the next task without shrinking, or None if there is none.

        It is for the overtime of a campaign, which is enough for a script that is seen to fail, but not to shrink it.
        """
        waiting = self._dead or self._kept or self._large
        return dataclasses.replace(waiting.popleft(), shrink=False) if waiting else None


def _queue(waiting: collections.deque[Diagnosis], task: DiagnoseDeath) -> None:
    """Queue `task`; a hang goes first, because it takes long but mostly waits and needs little of the processors."""
    (waiting.appendleft if task.identity.symptom == "hang" else waiting.append)(task)
