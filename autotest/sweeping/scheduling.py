"""Decides which unit of a sweep is judged next: all of the first pass, then where samples tell most that is new."""

from __future__ import annotations

import collections
import dataclasses
import heapq
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from autotest.results.sweep import Cell
from autotest.sweeping.units import Unit

#: An operator and a kind of samples: what these tell in one form and dtype is like what they tell in another.
_Arm: TypeAlias = tuple[str, str]
#: What an arm is worth of which nothing is known: as if each of its samples told something new.
_UNKNOWN: Final = 1.0
#: How many ordinary features a new divergence is worth.
_DIVERGENCE: Final = 8
#: The arms that never run dry.
_ENDLESS: Final = "mutation"


class UnitAgenda(Iterator[Unit]):
    """Hands out units one by one, and is told what they showed.

    An arm is all units of one kind of one operator. Its energy is how much that is new a sample of it is expected to
    tell: the mean of its energy before and of what its last unit told, so that a unit that tells nothing halves it.
    Between equals, and in the first pass, units keep their order; nothing else than this and what was told decides.

    Args:
        units: what there is to judge, those of the first pass first.
        first: how many belong to the first pass.
        endless: whether mutations go on, with others in each turn, when all units have been handed out.
        further: mutations to go on with besides those in `units`.
    """

    def __init__(
        self, units: Sequence[Unit], first: int, *, endless: bool = False, further: Sequence[Unit] = ()
    ) -> None:
        self._first = collections.deque(units[:first])
        self._waiting: dict[_Arm, collections.deque[Unit]] = {}
        self._energy: dict[_Arm, float] = {}
        #: Arms by falling energy. An arm is in here once for each of its energies; those that are past are skipped.
        self._heap: list[tuple[float, int, _Arm]] = []
        #: operator -> what its samples told so far
        self._known: dict[str, set[int]] = {}
        self._diverged: dict[str, set[tuple[str, str]]] = {}
        #: unit -> new things told so far, and samples
        self._under_way: dict[int, tuple[int, int]] = {}
        self._later = [_next_turn(unit) for unit in units if unit.kind == _ENDLESS] if endless else []
        self._later += further if endless else ()
        self._going_round = False
        self._number = max((unit.number for unit in units), default=-1) + 1
        for unit in units[first:]:
            self._waiting.setdefault(_arm(unit), collections.deque()).append(unit)
        for arm in self._waiting:
            self._queue(arm)

    def __next__(self) -> Unit:
        if self._first:
            return self._first.popleft()
        arm = self._best()
        if arm is None and self._later:
            self._go_round()
            arm = self._best()
        if arm is None:
            raise StopIteration
        unit = self._waiting[arm].popleft()
        if self._going_round:
            self._append(_next_turn(unit))
        self._queue(arm)
        return unit

    def told(self, unit: Unit, cell: Cell, done: bool) -> None:
        """Take note of what some samples of `unit` showed, and whether these were its last."""
        known = self._known.setdefault(unit.key.name, set())
        diverged = self._diverged.setdefault(unit.key.name, set())
        new = len(cell.features - known) + _DIVERGENCE * len(cell.divergences.keys() - diverged)
        known |= cell.features
        diverged |= cell.divergences.keys()
        so_far, samples = self._under_way.pop(unit.number, (0, 0))
        new, samples = so_far + new, samples + cell.samples
        if not done:
            self._under_way[unit.number] = new, samples
            return
        # Only whole units count: when their parts are handed in depends on the clock.
        arm = _arm(unit)
        self._energy[arm] = (self._energy.get(arm, _UNKNOWN) + min(1.0, new / max(1, samples))) / 2
        self._queue(arm)

    def _queue(self, arm: _Arm) -> None:
        waiting = self._waiting.get(arm)
        if waiting:
            heapq.heappush(self._heap, (-self._energy.get(arm, _UNKNOWN), waiting[0].number, arm))

    def _best(self) -> _Arm | None:
        """The arm of the greatest energy that has a unit left."""
        while self._heap:
            energy, number, arm = heapq.heappop(self._heap)
            waiting = self._waiting[arm]
            if waiting and number == waiting[0].number and -energy == self._energy.get(arm, _UNKNOWN):
                return arm
        return None

    def _go_round(self) -> None:
        """From now on a unit that is handed out comes again, after the others of its arm, with other mutations."""
        self._going_round = True
        for unit in self._later:
            self._append(unit)
        for arm in {_arm(unit): None for unit in self._later}:
            self._queue(arm)
        self._later = []

    def _append(self, unit: Unit) -> None:
        self._waiting.setdefault(_arm(unit), collections.deque()).append(dataclasses.replace(unit, number=self._number))
        self._number += 1


def _next_turn(unit: Unit) -> Unit:
    return dataclasses.replace(unit, turn=unit.turn + 1)


def _arm(unit: Unit) -> _Arm:
    return unit.key.name, unit.kind
