"""Queues of the findings of a campaign that are still to be diagnosed, the most urgent first."""

from __future__ import annotations

import collections
import dataclasses

from autotest.results.tasks import Diagnose, DiagnoseDeath, Found

Diagnosis = Diagnose | DiagnoseDeath


class Agenda:
    """Failures on their way from being seen to being understood."""

    def __init__(self) -> None:
        self._seen: collections.deque[Diagnosis] = collections.deque()
        self._dead: collections.deque[Diagnosis] = collections.deque()
        self._kept: collections.deque[Diagnosis] = collections.deque()
        self._large: collections.deque[Diagnosis] = collections.deque()

    def __len__(self) -> int:
        """How many still lack a script that was run."""
        return len(self._dead) + len(self._kept) + len(self._large)

    def seen(self, task: Diagnosis) -> None:
        """Queue `task`, which puts a failure on disk that is not there yet."""
        self._seen.append(task)

    def kept(self, task: Diagnosis, found: Found) -> None:
        """`task` left `found`: go on with what comes after it."""
        if not task.thorough:
            # A death has no script before it was looked into; any other failure has one from the start.
            if isinstance(task, DiagnoseDeath):
                _queue(self._dead, dataclasses.replace(task, thorough=True, shrink=False))
            else:
                self._kept.append(dataclasses.replace(task, thorough=True, identity=found.identity))
        elif isinstance(task, DiagnoseDeath) and not task.verify and (found.verified.holds or not found.verified.tried):
            _queue(self._large, dataclasses.replace(task, identity=found.identity, shrink=True, verify=True))

    def again(self, task: Diagnosis) -> None:
        """Queue `task` once more, behind the others: looking into it cost a worker."""
        self._kept.append(task)

    def resumed(self, found: Found) -> None:
        """An earlier run kept `found` and came no further. Deaths have no class of shapes."""
        if found.verified.holds:
            return
        if found.identity.shapes:
            self._kept.append(Diagnose(found.where, found.index, thorough=True, identity=found.identity))
        else:
            message = found.message
            self._kept.append(DiagnoseDeath(found.where, found.index, found.identity, message, True, shrink=False))

    def at_once(self) -> Diagnosis | None:
        """The oldest task that puts a failure on disk, which must not wait; None without one."""
        return self._seen.popleft() if self._seen else None

    def next(self) -> Diagnosis | None:
        """The next task that makes a kept finding more thorough; None without one."""
        return next((queue.popleft() for queue in (self._dead, self._kept, self._large) if queue), None)

    def in_a_hurry(self) -> Diagnosis | None:
        """What the time after the end is for: a script that was seen to fail, and not a short one."""
        waiting = self._dead or self._kept or self._large
        return dataclasses.replace(waiting.popleft(), shrink=False) if waiting else None


def _queue(waiting: collections.deque[Diagnosis], task: DiagnoseDeath) -> None:
    """A hang goes first: it takes long, of which most is waiting, and needs little of the processors."""
    (waiting.appendleft if task.identity.symptom == "hang" else waiting.append)(task)
