"""The tasks that a campaign has given to its executor and whose results it has not taken yet."""

from __future__ import annotations

import collections
from collections.abc import Collection, Iterable

from autotest.campaigns.diagnosis_queue import Diagnosis
from autotest.results.tasks import Explore, Task, Where


class RunningTasks:
    """The running tasks and their start times: `exploring` tasks, and `diagnosing` ones."""

    def __init__(self) -> None:
        #: By the task object's `id`: two equal tasks may run at the same time.
        self._exploring: dict[int, tuple[Explore, float]] = {}
        self._diagnosing: dict[int, tuple[Diagnosis, float]] = {}

    def __len__(self) -> int:
        return len(self._exploring) + len(self._diagnosing)

    @property
    def exploring(self) -> Collection[Explore]:
        return [task for task, _ in self._exploring.values()]

    @property
    def diagnosing(self) -> Collection[Diagnosis]:
        return [task for task, _ in self._diagnosing.values()]

    def started(self, task: Task, now: float) -> None:
        """Record that `task` was given to the executor at the monotonic time `now`."""
        if isinstance(task, Explore):
            self._exploring[id(task)] = task, now
        else:
            self._diagnosing[id(task)] = task, now

    def start(self, task: Task) -> float:
        """Return when `task` was given to the executor."""
        return (self._exploring if isinstance(task, Explore) else self._diagnosing)[id(task)][1]

    def ended(self, task: Task) -> None:
        """Record that the result of `task` was taken."""
        del (self._exploring if isinstance(task, Explore) else self._diagnosing)[id(task)]

    def unfinished(self, unstored: Iterable[Diagnosis]) -> dict[Where, list[range]]:
        """Return the trials that a resumed campaign has to run, or to run again, by test and base seed.

        Those are the trials of running tasks, and of failures that are not stored yet.

        Args:
            unstored: the tasks that are still to be started and store a failure.
        """
        trials: dict[Where, list[range]] = collections.defaultdict(list)
        for task in self.exploring:
            trials[task.where].append(task.indices)
        for failure in (*unstored, *self.diagnosing):
            if not failure.thorough:
                trials[failure.where].append(range(failure.index, failure.index + 1))
        return trials
