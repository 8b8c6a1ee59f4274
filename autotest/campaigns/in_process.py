"""An executor that runs the tasks of a campaign in this process, one after the other."""

from __future__ import annotations

import os
from collections.abc import Sequence

from autotest.campaigns.exploring import run_task
from autotest.frameworks import registry
from autotest.processes import breadcrumb
from autotest.processes.client import Server
from autotest.results.tasks import Conditions, Result, Task


class InProcess:
    """An executor that runs one task at a time in this process. If a framework crashes, it ends the campaign too."""

    slots, diagnosis_slots = 1, 0

    def __init__(self, conditions: Conditions) -> None:
        self._conditions = conditions
        self._waiting: list[Task] = []
        self._server = Server(frameworks=conditions.frameworks)

    def prepare(self) -> None:
        """Import both frameworks, which takes seconds, before the first trial. Raises `FrameworkMissing`."""
        registry.pair(*self._conditions.frameworks).load()

    def start(self, task: Task) -> None:
        self._waiting.append(task)

    def wait(self, seconds: float) -> Sequence[tuple[Task, Result]]:
        tasks, self._waiting = self._waiting, []
        crumb = breadcrumb.own(self._conditions.directory, os.getpid())
        return [(task, run_task(task, self._conditions, crumb, self._server)) for task in tasks]

    def machines(self) -> list[str]:
        """Return an empty list: no other machine takes part."""
        return []

    def close(self) -> None:
        """End the server of the processes in which deaths were diagnosed."""
        self._server.close()
