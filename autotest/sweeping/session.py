"""Runs one sweep, unit by unit, until it is complete or its time is over, and collects a map."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from autotest.base.errors import UsageError
from autotest.base.plural import several, were
from autotest.frameworks.samples import DatabaseEntry
from autotest.results.sweep import Cell, CellKey, SweepMap, SweepRow
from autotest.sources.selection import selection
from autotest.sweeping.engine import NO_TIME, SweepEngine
from autotest.sweeping.journal import Journal, name_of
from autotest.sweeping.scheduling import UnitAgenda
from autotest.sweeping.units import FOUND, Unit, in_first_pass, in_shard, units
from autotest.sweeping.worker import SweepListing


@dataclasses.dataclass(frozen=True, slots=True)
class SweepPlan:
    """The arguments of a sweep."""

    #: Expression as for `-k`, over ``operator/form/dtype``; empty for everything.
    expression: str = ""
    #: Time limit in seconds; None to judge every unit once.
    seconds: float | None = None
    seed: int = 0
    #: ``(I, K)`` for the I-th of K parts.
    shard: tuple[int, int] = (1, 1)
    #: Whether to spend all of `seconds`, with further mutations after everything else is judged.
    searching: bool = False
    #: The option that the expression was given by, as messages spell it.
    option: str = "-k "

    def cell_filter(self) -> Callable[[str], bool]:
        """Return a predicate on cell names for the cells that are chosen.

        Raises:
            UsageError: The expression is invalid.
        """
        return selection(self.expression, self.option) if self.expression else lambda name: True

    def asks_for(self, name: str) -> bool:
        """Whether a public name such as ``"Tensor.add_"`` would be chosen if it had a cell of float32."""
        form = "method" if name.startswith("Tensor.") else "function"
        return self.cell_filter()(str(CellKey(name, form, "float32")))


@dataclasses.dataclass(slots=True)
class Progress:
    """The progress of a sweep."""

    units: int
    done: int = 0
    samples: int = 0
    divergences: int = 0
    seconds: float = 0.0


#: Called repeatedly while a sweep runs.
OnProgress = Callable[[Progress], None]


class SweepSession:
    """A sweep that is run on an engine, and its map."""

    def __init__(self, plan: SweepPlan, listed: SweepListing, command: str = "", date: str = "") -> None:
        """Raise `UsageError` if no cell is chosen."""
        self._plan = plan
        self._entries: Mapping[str, DatabaseEntry] = {entry.key: entry for entry in listed.entries}
        self.map = SweepMap(listed.sides, listed.versions, plan.seed, command, notes=list(listed.notes), date=date)
        # A shard covers only its own cells, so it cannot tell which shared names are not called.
        self.map.shared = [name for name in listed.shared if plan.asks_for(name)] if plan.shard == (1, 1) else []
        all_units = list(units(_with_cells(listed.entries), plan.cell_filter(), plan.seed))
        if not all_units:
            raise UsageError(_nothing(plan, listed))
        self._all = [unit for unit in all_units if in_shard(unit, plan.seed, plan.shard)]
        #: The units still to judge: all of them, or the rest of an earlier run.
        self.units = self._all
        self._judged: Mapping[str, Sequence[Cell]] = {}
        #: Cells with units that were not judged completely.
        self.unfinished: frozenset[CellKey] = frozenset()
        for unit in self.units:
            self.row(unit.key)

    def row(self, key: CellKey) -> SweepRow:
        """Return the map's row for a cell; add it if it is missing."""
        row = self.map.rows.get(key)
        if row is None:
            entry = self._entries[key.operator]
            row = self.map.rows[key] = SweepRow(key, entry.family, entry.database)
        return row

    def resume(self, done: Mapping[str, Sequence[Cell]]) -> int:
        """Take over the outcomes of units from an earlier run; return the number of units that are not judged again."""
        self.units = [unit for unit in self._all if name_of(unit) not in done]
        self._judged = done
        for unit in self._all:
            for turn in _turns(unit, done):
                for cell in done[name_of(turn)]:
                    self.map.earlier += cell.samples
                    self.row(unit.key).cell.merge(cell)
        return len(self._all) - len(self.units)

    def _agenda(self) -> UnitAgenda:
        """Return the units still to judge, ordered by their expected value."""
        first = sum(in_first_pass(unit) for unit in self.units)
        endless = self._plan.searching and self._plan.seconds is not None
        left = {unit.number for unit in self.units}
        further = [
            dataclasses.replace(unit, turn=len(list(_turns(unit, self._judged))))
            for unit in self._all
            if unit.kind == "mutation" and unit.number not in left
        ]
        agenda = UnitAgenda(self.units, first, endless=endless, further=further)
        for unit in self._all:
            for turn in _turns(unit, self._judged):
                cells = self._judged[name_of(turn)]
                for number, cell in enumerate(cells, 1):
                    agenda.record_outcome(turn, cell, number == len(cells))
        return agenda

    def run(
        self, engine: SweepEngine, watch: OnProgress = lambda progress: None, journal: Journal | None = None
    ) -> None:
        """Judge everything. The map contains the outcomes so far whenever this ends, even by an interrupt."""
        began = time.monotonic()
        progress = Progress(len(self.units))
        # A cell passes only after all of its units have been judged.
        open_units = {unit.number: unit.key for unit in self.units}
        lost: set[int] = set()
        #: The units that were begun and for whose rest there was no time.
        cut_short: set[int] = set()
        agenda = self._agenda()

        def report(unit: Unit, cell: Cell, done: bool) -> None:
            if NO_TIME in cell.left_out:
                cut_short.add(unit.number)
            elif journal is not None:
                journal.add(unit, cell, done)
            agenda.record_outcome(unit, cell, done)
            row = self.row(unit.key)
            known = len(row.cell.divergences)
            row.cell.merge(cell)
            progress.samples += cell.samples
            progress.divergences += len(row.cell.divergences) - known
            if cell.not_begun:
                lost.add(unit.number)
            # Of a unit that one group of machines lost, another group may report the end.
            if done and unit.number not in lost and open_units.pop(unit.number, None) is not None:
                progress.done += 1
            progress.seconds = time.monotonic() - began
            watch(progress)

        def stop() -> bool:
            return self._plan.seconds is not None and time.monotonic() - began >= self._plan.seconds

        self.map.incomplete = "interrupted"
        try:
            engine.run(agenda, report, stop)
            counts = len(open_units.keys() - lost), len(lost & open_units.keys())
            self.map.incomplete = _incomplete(*counts, self.units, timely=not (cut_short or stop()))
        finally:
            self.unfinished = frozenset(open_units.values())
            self.map.seconds += time.monotonic() - began

    def again(self, engine: SweepEngine, keys: Collection[CellKey]) -> Mapping[CellKey, Cell]:
        """Judge the cells in `keys` once more, without changing the map; return those that were judged completely."""
        found: dict[CellKey, Cell] = {}
        open_units = {unit.number: unit for unit in self._all if unit.key in keys}

        def report(unit: Unit, cell: Cell, done: bool) -> None:
            found.setdefault(unit.key, Cell()).merge(cell)
            if done:
                open_units.pop(unit.number, None)

        engine.run(list(open_units.values()), report)
        # A cell with a lost unit may lack its failures.
        for unit in open_units.values():
            found.pop(unit.key, None)
        return found


def _incomplete(left: int, lost: int, chosen: Sequence[Unit], *, timely: bool) -> str:
    """Return why the map is not complete.

    Args:
        left: number of units that were begun or could have been, and were not judged completely.
        lost: number of units that could not be begun.
        chosen: all units.
        timely: whether the sweep ended before its time was over. Then a group of machines was given up.
    """
    of = f"of {several(len(chosen), 'unit')}"
    partly = f"{left} {of} {were(left)} not judged by each group of machines"
    why = [partly if timely else f"no time for {left} {of}"] if left else []
    why += [f"{lost} {of} {were(lost)} not judged, because the workers ended before they began"] if lost else []
    return "; ".join(why)


def _turns(unit: Unit, done: Mapping[str, Sequence[Cell]]) -> Iterator[Unit]:
    """Yield `unit` in each of its turns that have been judged."""
    while name_of(unit) in done:
        yield unit
        unit = dataclasses.replace(unit, turn=unit.turn + 1)


def _with_cells(entries: Sequence[DatabaseEntry]) -> list[DatabaseEntry]:
    """Return `entries` without earlier findings in cells that no database has: the next run may lack them."""
    known = {(one.key, form) for one in entries if one.kinds != FOUND for form in one.forms}
    dtypes = {(one.key, dtype) for one in entries if one.kinds != FOUND for dtype in one.dtypes}
    return [
        one
        for one in entries
        if one.kinds != FOUND or ((one.key, one.forms[0]) in known and (one.key, one.dtypes[0]) in dtypes)
    ]


def _nothing(plan: SweepPlan, listed: SweepListing) -> str:
    if not listed.entries:
        why = "; ".join(listed.notes) or f"{listed.sides[0]} provides no database of inputs"
        return f"there is nothing to sweep: {why}"
    shown = ", ".join(_examples(listed.entries))
    return (
        f"{plan.option}{plan.expression!r} matches no cell; the name of a cell is operator/form/dtype, such as {shown}"
    )


def _examples(entries: Iterable[DatabaseEntry]) -> list[str]:
    first = list(entries)[:2]
    return [str(CellKey(entry.key, entry.forms[0], entry.dtypes[0])) for entry in first]
