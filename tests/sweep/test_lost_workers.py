"""A worker that ends without a unit, or right after its last answer, costs no unit; a lost unit is reported."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from autotest.processes.client import Server
from autotest.results.sweep import Cell, CellKey
from autotest.sweeping import worker_position
from autotest.sweeping.engine import NOT_BEGUN, ReportCell, SweepEngine, _Worker, modules_to_preload
from autotest.sweeping.session import SweepPlan, SweepSession
from autotest.sweeping.units import Unit, units
from tests.support.shared_server import SharedServer
from tests.sweep.planted import entries

FUNCTIONS = ("nn.functional.relu", "nn.functional.silu", "nn.functional.elu")


@pytest.fixture(autouse=True)
def _torch_beside_itself(monkeypatch: pytest.MonkeyPatch, importable_elsewhere: None, warm: None) -> None:
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Return the server that forks the workers of all engines."""
    shared = SharedServer(modules_to_preload(own=True), frameworks=("torch", "torch"))
    yield shared
    shared.ended()


def samples_of(*operators: str) -> list[Unit]:
    names = [f"{operator}/function/float32" for operator in operators]
    return [unit for unit in units(entries(), names.__contains__, 0) if unit.kind == "sample"]


def killed(worker: _Worker) -> None:
    worker.process.pid()
    worker.process.kill()
    assert worker.process.status(30.0) is not None


def judged(engine: SweepEngine, given: list[Unit]) -> tuple[dict[CellKey, Cell], set[CellKey]]:
    """Return the cells of the units `given`, and those whose unit was done."""
    cells: dict[CellKey, Cell] = {}
    done: set[CellKey] = set()

    def report(unit: Unit, cell: Cell, over: bool) -> None:
        cells.setdefault(unit.key, Cell()).merge(cell)
        if over:
            done.add(unit.key)

    with engine:
        engine.listed()
        engine.run(given, report)
    return cells, done


class EndingIdle(SweepEngine):
    """Workers that end while they wait for their second unit, as do replacements that were started in advance."""

    def _begin(self, unit: Unit) -> None:
        waiting = self._idle if self._spare is None else [*self._idle, self._spare]
        for worker in waiting:
            killed(worker)
        super()._begin(unit)


class EndingAtStart(SweepEngine):
    """Workers that end before they can begin a unit, unless their number is among those that `begin`."""

    begin: tuple[int, ...] = ()

    def _fresh(self) -> _Worker:
        worker = super()._fresh()
        if worker.number not in self.begin:
            killed(worker)
        return worker


class GivenUpTooLate(SweepEngine):
    """Workers that are killed for giving no answer although their last answer is under way."""

    def _receive(self, worker: _Worker, report: ReportCell) -> Unit | None:
        end = time.monotonic() + 60
        while worker_position.read(worker.position_path).unit == worker.unit.number and time.monotonic() < end:
            time.sleep(0.01)
        worker.given_up = 1.0
        killed(worker)
        return super()._receive(worker, report)


@pytest.mark.parametrize("engine", [EndingIdle, GivenUpTooLate])
def test_each_unit_is_judged_completely_though_the_worker_before_it_ended(
    engine: Callable[..., SweepEngine], server: Server
) -> None:
    given = samples_of(*FUNCTIONS)
    cells, done = judged(engine(1, server=server), given)
    assert done == {unit.key for unit in given}
    for cell in cells.values():
        assert cell.accepted == cell.samples > 0
        assert not cell.left_out


def test_a_worker_that_was_killed_gets_no_further_unit(server: Server) -> None:
    given = samples_of(*FUNCTIONS[:2])
    began: list[int] = []

    class Listening(GivenUpTooLate):
        def _begin(self, unit: Unit) -> None:
            assert not self._idle
            super()._begin(unit)
            began.append(unit.number)

    judged(Listening(1, server=server), given)
    assert began == [unit.number for unit in given]


def test_a_unit_whose_worker_ended_at_its_start_is_given_to_one_more(server: Server) -> None:
    given = samples_of("nn.functional.relu")

    class Second(EndingAtStart):
        begin = (2, 3)

    cells, done = judged(Second(1, server=server), given)
    assert done == {given[0].key}
    assert not cells[given[0].key].left_out


def test_a_sweep_that_lost_a_unit_is_not_complete_and_says_why(server: Server) -> None:
    plan = SweepPlan("nn.functional.relu/function/float32")

    class Lost(EndingAtStart):
        begin = (3, 4)

    with Lost(1, server=server) as engine:
        session = SweepSession(plan, engine.listed())
        session.run(engine)
        lost, again = session.units[0], session.again(engine, {session.units[0].key})
    of = f"of {len(session.units)} units"
    assert session.map.incomplete == f"1 {of} was not judged, because the workers ended before they began"
    assert session.unfinished == {lost.key}
    ((why, count),) = session.map.rows[lost.key].cell.left_out.items()
    assert (why, count) == (f"{NOT_BEGUN}: SIGKILL", 1)
    assert session.map.rows[lost.key].cell.not_begun == 1
    assert again.keys() == {lost.key}


def test_a_cell_that_lost_a_unit_when_it_was_judged_again_says_nothing(server: Server) -> None:
    with EndingAtStart(1, server=server) as engine:
        session = SweepSession(SweepPlan("nn.functional.relu/function/float32"), engine.listed())
        assert session.again(engine, {session.units[0].key}) == {}
