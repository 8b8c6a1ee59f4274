"""What the driver of a cluster knows of a task that is not done, and of an agent that may do it."""

from __future__ import annotations

import dataclasses
from typing import Any

from autotest.campaigns.executor import diagnosis_slots_for, is_of_hang
from autotest.clusters.messages import Facts
from autotest.results.tasks import Explore


@dataclasses.dataclass(slots=True)
class Job:
    """A task of a campaign that is not done, and who has it."""

    task: Any
    #: The machines that may do it, by what their frameworks and devices are; "" for any that takes part.
    group: str = ""
    begun: float = 0.0
    #: The agents that have it.
    holders: list[RemoteAgent] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(slots=True, eq=False)
class RemoteAgent:
    """What the driver knows of one agent."""

    machine: str
    #: The workers that it was started with.
    workers: int
    #: None until it has said what it is.
    facts: Facts | None = None
    #: What it was given and has not done, and what of it is yet to be sent.
    jobs: dict[int, Any] = dataclasses.field(default_factory=dict)
    exploring: int = 0
    #: How many hangs it looks into, and how many of its workers seem to hang themselves.
    hangs: int = 0
    late: int = 0
    unsent: list[int] = dataclasses.field(default_factory=list)
    #: Since when it owes an answer; None when it does not.
    asked: float | None = None

    @property
    def group(self) -> str:
        """What its frameworks and devices are; "" until it has said."""
        return "" if self.facts is None else self.facts.group

    @property
    def slots(self) -> int:
        """How many tasks it explores with at a time."""
        return self.workers + self.late

    @property
    def diagnosis_slots(self) -> int:
        """How many findings it may look into beside exploring."""
        return diagnosis_slots_for(self.workers, self.hangs)

    def room(self, task: Any) -> int:
        """How many more tasks like this one it can begin at once."""
        free = self.slots + self.diagnosis_slots - len(self.jobs)
        return min(self.slots - self.exploring, free) if isinstance(task, Explore) else free

    def give(self, number: int, task: Any) -> None:
        self.jobs[number] = task
        self.unsent.append(number)
        self.exploring += isinstance(task, Explore)
        self.hangs += is_of_hang(task)

    def has_done(self, number: int) -> None:
        task = self.jobs.pop(number, None)
        self.exploring -= isinstance(task, Explore)
        self.hangs -= is_of_hang(task)


__all__ = ["Job", "RemoteAgent"]
