"""Chooses the machines of a cluster that take part: those that have what the campaign needs, each with one agent."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from autotest.clusters.engine import Engine, Machine
from autotest.clusters.messages import Facts, digest_of_library

#: Seconds between two queries of the machines of the cluster.
LOOK_EVERY = 2.0
#: How many agents a machine may lose in a row, without finishing any task, before it is refused.
LOSSES = 5


class Machines:
    """The machines of a cluster, and the reasons why some of them are refused."""

    def __init__(self, engine: Engine, jobs: int | None, wanted: str = "", *, each: bool = False) -> None:
        """Choose among machines whose group contains `wanted`; all of one group, or with `each` of every group.

        At most `jobs` workers are used in total; None uses every processor.
        """
        self._engine, self._jobs, self._wanted, self._each = engine, jobs, wanted, each
        #: The groups that take part; empty until they are chosen.
        self.groups: Sequence[str] = ()
        self._library = digest_of_library()
        self._names: dict[str, str] = {}
        #: The number of workers of each machine that has an agent; and the machines that must not get one, with the
        #: reason.
        self._taken: dict[str, int] = {}
        self.refused: dict[str, str] = {}
        self._losses: Counter[str] = Counter()
        self._next_look = 0.0

    def machines_to_start(self) -> Iterator[tuple[Machine, int]]:
        """Yield each machine that still needs an agent, with the agent's number of workers."""
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + LOOK_EVERY
        for machine in self._engine.machines():
            self._names[machine.id] = machine.name
            left = machine.processors if self._jobs is None else self._jobs - sum(self._taken.values())
            slots = min(machine.processors, left)
            if slots > 0 and machine.id not in self._taken and machine.id not in self.refused:
                self._taken[machine.id] = slots
                yield machine, slots

    def choose(self, groups: Counter[str]) -> None:
        """Choose the group with the most workers, the first by name if several have as many; with `each`, all groups.

        `groups` has the number of workers of each group.
        """
        names = sorted(groups)
        self.groups = names if self._each else [max(names, key=lambda group: groups[group])]

    def accepts_machine(self, machine: str, facts: Facts) -> bool:
        """Return whether a machine may take part; record the reason if it may not."""
        if facts.trouble:
            why = facts.trouble
        elif facts.library != self._library:
            why = "it has another version of dual-autotest than this process; install the same version on every machine"
        elif facts.differing:
            why = f"{', '.join(facts.differing[:3])} is missing there or differs from this process"
        elif self._wanted not in facts.group:
            why = f"it has {facts.group}, but --group {self._wanted} was requested"
        elif self.groups and facts.group not in self.groups and not self._each:
            why = f"it has {facts.group}, but this campaign runs on {' and on '.join(self.groups)}"
        else:
            if self.groups and facts.group not in self.groups:
                self.groups = [*self.groups, facts.group]  # the first machine of this group joined late
            return True
        self.refused[machine] = why
        return False

    def lost(self, machine: str, why: str) -> None:
        """Record that the agent of `machine` ended. After `LOSSES` times in a row the machine is refused."""
        self._losses[machine] += 1
        if self._losses[machine] == LOSSES:
            self.refused[machine] = f"its workers ended {LOSSES} times: {why}"

    def worked(self, machine: str) -> None:
        """Record that `machine` has finished a task; this resets the count of its lost agents."""
        self._losses.pop(machine, None)

    def gone(self, machine: str) -> None:
        """Record that `machine` has no agent any more, and may get another."""
        self._taken.pop(machine, None)

    def refusals(self) -> list[str]:
        """Return one line for each reason, with the machines that were refused for it."""
        reasons: dict[str, list[str]] = {}
        for machine, why in self.refused.items():
            reasons.setdefault(why, []).append(self._names.get(machine, machine))
        return [f"{', '.join(names)}: {why}" for why, names in reasons.items()]
