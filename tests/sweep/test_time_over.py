"""A unit whose worker died shortly before the time of the sweep is over is not finished."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Iterable
from typing import Any

from autotest.frameworks.samples import DatabaseEntry
from autotest.results.sweep import Cell, CellKey
from autotest.results.sweep_format import Baseline
from autotest.results.sweep_gate import changes
from autotest.sweeping.engine import NO_TIME, SweepEngine
from autotest.sweeping.session import SweepPlan, SweepSession
from autotest.sweeping.units import Unit
from autotest.sweeping.worker import SweepListing

CELL = CellKey("sin", "function", "float32")


class DyingWorker(SweepEngine):
    """An engine whose only worker judges two samples of a unit and dies."""

    def __init__(self) -> None:
        self._jobs, self._workers, self._ungenerated = 1, {}, {}

    def _begin(self, unit: Unit) -> None:
        self._workers[0] = types.SimpleNamespace(unit=unit)  # type: ignore[assignment]

    def _late(self) -> int:
        return 0

    def _ready(self) -> Any:
        return list(self._workers.values())

    def _receive(self, worker: Any, report: Callable[..., None]) -> Unit:
        del self._workers[0]
        report(worker.unit, Cell(accepted=2, checks={"value": [2, 2]}), False)
        return dataclasses.replace(worker.unit, start=2)


def test_a_unit_whose_worker_died_when_the_time_was_over_is_unfinished_and_no_worse() -> None:
    entry = DatabaseEntry("own", "sin", "", "math", ("function",), ("float32",), ("sample",), {}, mutated=False)
    plan = SweepPlan(seconds=0.05)
    session = SweepSession(plan, SweepListing(("torch", "other"), {}, [entry], [], []))
    calls = iter([False, True, True])
    engine = DyingWorker()
    run = engine.run
    engine.run = lambda units, report, stop: run(units, report, lambda: next(calls))  # type: ignore[method-assign,assignment]
    session.run(engine)
    assert session.map.rows[CELL].cell.left_out == {NO_TIME: 1}
    assert session.unfinished == {CELL}
    assert session.map.incomplete == "no time for 1 of 1 unit"
    before = Baseline({CELL: "agrees"}, {CELL: {"value": [9, 9]}}, {CELL: {}}, ("torch", "other"), {})
    assert changes(session.map, before, lambda key: True, session.unfinished).worse == []


class Partly(SweepEngine):
    """An engine of two groups of machines, of which one is given up before it has judged anything."""

    def __init__(self) -> None:
        """Start no process."""

    def run(self, units: Iterable[Unit], report: Callable[..., None], stop: Callable[[], bool] = lambda: False) -> None:
        for unit in units:
            report(unit, Cell(accepted=2, checks={"value": [2, 2]}), False)


def test_units_that_a_group_of_machines_did_not_judge_are_not_said_to_have_had_no_time() -> None:
    entry = DatabaseEntry("own", "sin", "", "math", ("function",), ("float32",), ("sample",), {}, mutated=False)
    session = SweepSession(SweepPlan(), SweepListing(("torch", "other"), {}, [entry], [], []))
    session.run(Partly())
    assert session.unfinished == {CELL}
    assert session.map.incomplete == "1 of 1 unit was not judged by each group of machines"
