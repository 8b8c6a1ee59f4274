"""The driver's records of unfinished tasks, and of the agents of a cluster that may do them."""

from __future__ import annotations

import dataclasses
from typing import Any

from autotest.campaigns.executor import diagnosis_slots_for, is_of_hang
from autotest.clusters.messages import Facts
from autotest.results.tasks import Explore


@dataclasses.dataclass(slots=True)
class Job:
    """An unfinished task, and the agents that have it."""

    task: Any
    #: The group (frameworks and devices) of the machines that may do it; "" for any that takes part.
    group: str = ""
    begun: float = 0.0
    #: The agents that are working on it.
    holders: list[RemoteAgent] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(slots=True, eq=False)
class RemoteAgent:
    """The driver's record of one agent."""

    machine: str
    #: The number of workers that it was started with.
    workers: int
    #: The description of its machine; None until it has sent it.
    facts: Facts | None = None
    #: The unfinished tasks that were given to it, by number; `unsent` lists those that are still to be sent.
    jobs: dict[int, Any] = dataclasses.field(default_factory=dict)
    exploring: int = 0
    #: How many hangs it diagnoses, and how many of its own workers seem to hang.
    hangs: int = 0
    late: int = 0
    unsent: list[int] = dataclasses.field(default_factory=list)
    #: The time since which it owes an answer; None if it owes none.
    asked_at: float | None = None

    @property
    def group(self) -> str:
        """Its frameworks and devices; "" until it has sent them."""
        return "" if self.facts is None else self.facts.group

    @property
    def slots(self) -> int:
        """Number of exploring tasks that it runs at a time."""
        return self.workers + self.late

    @property
    def diagnosis_slots(self) -> int:
        """Number of findings that it may diagnose in addition to exploring."""
        return diagnosis_slots_for(self.workers, self.hangs)

    def room(self, task: Any) -> int:
        """Return how many more tasks of the kind of `task` it can start at once."""
        free = self.slots + self.diagnosis_slots - len(self.jobs)
        return min(self.slots - self.exploring, free) if isinstance(task, Explore) else free

    def assign(self, number: int, task: Any) -> None:
        self.jobs[number] = task
        self.unsent.append(number)
        self.exploring += isinstance(task, Explore)
        self.hangs += is_of_hang(task)

    def finish(self, number: int) -> None:
        task = self.jobs.pop(number, None)
        self.exploring -= isinstance(task, Explore)
        self.hangs -= is_of_hang(task)
