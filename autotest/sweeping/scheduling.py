"""Decides which unit is judged next: the first pass, then the units whose samples are most likely to show news."""

from __future__ import annotations

import collections
import dataclasses
import heapq
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from autotest.results.sweep import Cell
from autotest.sweeping.units import Unit

#: An operator and a kind of samples. Samples of one form and dtype behave like those of another.
_Arm: TypeAlias = tuple[str, str]
#: Energy of an arm that has not been run: as if each of its samples showed something new.
_UNKNOWN: Final = 1.0
#: How many ordinary features a new divergence counts for.
_DIVERGENCE: Final = 8
#: The kind of units that can be repeated without end.
_ENDLESS: Final = "mutation"


class UnitAgenda(Iterator[Unit]):
    """An iterator over units, ordered by the outcomes of the units so far.

    An arm is all units of one kind of one operator. Its energy is the expected number of new features per sample. After
    each unit, it becomes the mean of the old energy and the unit's own result, so a unit that shows nothing new halves
    it. Among arms of equal energy, and in the first pass, units keep their order; the order depends on nothing else.

    Args:
        units: the units to judge, those of the first pass first.
        first: number of units in the first pass.
        endless: whether mutations are repeated, with new ones in each turn, after all units have been yielded.
        further: mutation units to repeat in addition to those in `units`.
    """

    def __init__(
        self, units: Sequence[Unit], first: int, *, endless: bool = False, further: Sequence[Unit] = ()
    ) -> None:
        self._first = collections.deque(units[:first])
        self._waiting: dict[_Arm, collections.deque[Unit]] = {}
        self._energy: dict[_Arm, float] = {}
        #: Arms by decreasing energy. An arm has an entry for each energy it has had; outdated entries are skipped.
        self._heap: list[tuple[float, int, _Arm]] = []
        #: operator -> features of its samples so far
        self._known: dict[str, set[int]] = {}
        self._diverged: dict[str, set[tuple[str, str]]] = {}
        #: unit -> new features so far, and samples
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

    def record_outcome(self, unit: Unit, cell: Cell, done: bool) -> None:
        """Record the outcome of some samples of `unit`, and whether these were its last."""
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
        # Only whole units count, because the times at which parts arrive depend on the clock.
        arm = _arm(unit)
        self._energy[arm] = (self._energy.get(arm, _UNKNOWN) + min(1.0, new / max(1, samples))) / 2
        self._queue(arm)

    def _queue(self, arm: _Arm) -> None:
        waiting = self._waiting.get(arm)
        if waiting:
            heapq.heappush(self._heap, (-self._energy.get(arm, _UNKNOWN), waiting[0].number, arm))

    def _best(self) -> _Arm | None:
        """Return the arm with the greatest energy that has a unit left."""
        while self._heap:
            energy, number, arm = heapq.heappop(self._heap)
            waiting = self._waiting[arm]
            if waiting and number == waiting[0].number and -energy == self._energy.get(arm, _UNKNOWN):
                return arm
        return None

    def _go_round(self) -> None:
        """Begin to repeat units: from now on, each yielded unit is appended to its arm again, with other mutations."""
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
