"""Which machines of a cluster take part: those that have all that the campaign needs, each with one agent."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from autotest.clusters.engine import Engine, Machine
from autotest.clusters.messages import Facts, digest_of_library

#: Seconds between two looks at which machines there are.
LOOK_EVERY = 2.0
#: How many agents in a row a machine may lose before it does any work.
LOSSES = 5


class Machines:
    """The machines of a cluster, and why some of them are left out."""

    def __init__(self, engine: Engine, jobs: int | None, wanted: str = "", *, each: bool = False) -> None:
        """Of the machines whose group holds `wanted`, as many as have `jobs` workers; of one group, or of `each`."""
        self._engine, self._jobs, self._wanted, self._each = engine, jobs, wanted, each
        #: What those that take part have; none until that is decided.
        self.groups: Sequence[str] = ()
        self._library = digest_of_library()
        self._names: dict[str, str] = {}
        #: Machines that have an agent, with its workers; those that must not get one, with the reason.
        self._taken: dict[str, int] = {}
        self.refused: dict[str, str] = {}
        self._losses: Counter[str] = Counter()
        self._next_look = 0.0

    def to_start(self) -> Iterator[tuple[Machine, int]]:
        """Machines that have no agent, with how many workers theirs is to have."""
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
        """Let those take part who are of the group with the most workers; of equals, the first by name. Or all."""
        names = sorted(groups)
        self.groups = names if self._each else [max(names, key=lambda group: groups[group])]

    def welcomes(self, machine: str, facts: Facts) -> bool:
        """Whether a machine may take part; notes why when it may not."""
        if facts.trouble:
            why = facts.trouble
        elif facts.library != self._library:
            why = "its dual-autotest is another one than that of this process; install the same on every machine"
        elif facts.differing:
            why = f"{', '.join(facts.differing[:3])} is missing there or differs from this process's"
        elif self._wanted not in facts.group:
            why = f"it has {facts.group}, where --group {self._wanted} is asked for"
        elif self.groups and facts.group not in self.groups and not self._each:
            why = f"it has {facts.group}, where this campaign runs on {' and on '.join(self.groups)}"
        else:
            if self.groups and facts.group not in self.groups:
                self.groups = [*self.groups, facts.group]  # the first machine of its kind comes late
            return True
        self.refused[machine] = why
        return False

    def lost(self, machine: str, why: str) -> None:
        """Note that the agent of `machine` ended; after a few times it is refused."""
        self._losses[machine] += 1
        if self._losses[machine] == LOSSES:
            self.refused[machine] = f"its workers ended {LOSSES} times: {why}"

    def worked(self, machine: str) -> None:
        """Note that `machine` has done a task, so that what it lost before counts no more."""
        self._losses.pop(machine, None)

    def gone(self, machine: str) -> None:
        """Note that `machine` has no agent any more, and may get another."""
        self._taken.pop(machine, None)

    def refusals(self) -> list[str]:
        """A line for every reason, with the machines that it holds for."""
        reasons: dict[str, list[str]] = {}
        for machine, why in self.refused.items():
            reasons.setdefault(why, []).append(self._names.get(machine, machine))
        return [f"{', '.join(names)}: {why}" for why, names in reasons.items()]
