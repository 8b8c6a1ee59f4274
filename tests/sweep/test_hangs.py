"""A hanging operator costs the full deadline only a few times, and a slow one is not called a hang."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence

import pytest

from autotest.frameworks import Pair
from autotest.frameworks.samples import DatabaseEntry, Form, Sample, SampleKind
from autotest.results.sweep import Cell, CellKey
from autotest.sweeping.engine import SweepEngine
from autotest.sweeping.judged_units import judged_samples
from autotest.sweeping.sampling import samples
from autotest.sweeping.timeouts import TimeoutPolicy
from autotest.sweeping.units import HANGS, Ended, Unit, after_end, units
from autotest.sweeping.worker import Databases
from autotest.sweeping.worker_position import Running
from tests.sweep.planted import TORCH, databases, entries

HANG = Ended(Running.CANDIDATE, "no answer in 20 s", "", hung=True)
EARLY = HANG._replace(how="no answer in 3 s", early=True)


def unit_of(operator: str, **changes: object) -> Unit:
    unit = Unit(7, "operators", CellKey(operator, "function", "float32"), "sample", 0)
    return dataclasses.replace(unit, **changes)  # type: ignore[arg-type]


def test_the_first_sample_without_an_answer_is_waited_for_as_long_as_it_takes_to_call_it_a_hang() -> None:
    assert TimeoutPolicy(20.0).step_timeout(unit_of("sort"), Running.CANDIDATE) == 20.0


def test_samples_beside_one_that_gave_no_answer_are_waited_for_as_long_as_their_operator_takes() -> None:
    timeouts = TimeoutPolicy(20.0)
    hung = unit_of("sort", ended={1: HANG})
    assert timeouts.step_timeout(hung, Running.CANDIDATE) == 3.0
    timeouts.record_duration(unit_of("sort:stable"), 0.4)
    timeouts.record_duration(unit_of("sort"), 0.1)
    assert timeouts.step_timeout(hung, Running.CANDIDATE) == pytest.approx(8.0)
    timeouts.record_duration(unit_of("sort"), 5.0)
    assert timeouts.step_timeout(hung, Running.CANDIDATE) == 20.0  # the full deadline, because the operator is slow


def test_an_operator_that_gave_no_answer_in_several_cells_is_waited_for_no_more() -> None:
    timeouts = TimeoutPolicy(20.0)
    for _ in range(4):
        assert timeouts.step_timeout(unit_of("sort"), Running.CANDIDATE) == 20.0
        timeouts.record_timeout(unit_of("sort"), HANG, 20.0)
    assert timeouts.step_timeout(unit_of("sort"), Running.CANDIDATE) == 3.0
    assert timeouts.step_timeout(unit_of("topk"), Running.CANDIDATE) == 20.0


def test_a_fork_that_gives_no_answer_is_not_waited_for_and_no_other_is_made_for_the_operator() -> None:
    timeouts = TimeoutPolicy(20.0)
    forked = unit_of("sort", ended={1: HANG._replace(hung=False)})
    assert forked.in_forks
    assert (
        timeouts.step_timeout(forked, Running.CANDIDATE) == 3.0
    )  # the worker itself judges the sample again, with the full deadline
    timeouts.record_timeout(forked, HANG, 3.0)
    assert not timeouts.forks(unit_of("sort"))
    assert timeouts.step_timeout(unit_of("sort"), Running.CANDIDATE) == 20.0


def test_no_fork_judges_the_rest_of_a_unit_that_gave_no_answer() -> None:
    assert not after_end(unit_of("sort"), 3, 4, HANG).in_forks


def test_after_a_few_hangs_the_rest_of_a_unit_is_only_counted() -> None:
    unit = unit_of("sort")
    for sample in range(HANGS):
        assert not unit.abandoned
        unit = after_end(unit, sample, sample, HANG if sample == 0 else EARLY)
    assert unit.abandoned == "not run: other samples of this unit gave no answer"


def test_the_reference_is_waited_for_as_long_as_its_operator_takes_and_what_it_gives_up_accuses_nobody() -> None:
    timeouts = TimeoutPolicy(20.0)
    assert timeouts.step_timeout(unit_of("sort"), Running.REFERENCE) == 3.0
    told = timeouts.record_timeout(unit_of("sort"), HANG._replace(running=Running.REFERENCE), 3.0)
    assert (told.how, told.early) == ("the reference gave no answer in 3 s", True)
    beside = unit_of("sort", ended={1: told})
    assert timeouts.step_timeout(beside, Running.CANDIDATE) == 20.0  # it may hang for other samples
    assert judged_relu({0: told}).left_out == {"the reference gave no answer in 3 s": 1}


def test_an_operator_whose_samples_were_not_made_in_time_is_not_waited_for_as_long_in_other_cells() -> None:
    timeouts = TimeoutPolicy(20.0)
    assert timeouts.generation_timeout(unit_of("sort")) > 20.0
    timeouts.record_slow_generation(unit_of("sort"))
    assert timeouts.generation_timeout(unit_of("sort")) == 3.0
    assert timeouts.generation_timeout(unit_of("topk")) > 20.0


def test_what_was_not_waited_for_is_counted_and_no_finding() -> None:
    cell = judged_relu({0: EARLY})
    assert cell.left_out == {EARLY.how: 1}
    assert cell.divergences == {}
    assert list(cell.checks["survives"]) == [cell.accepted, cell.accepted]


def test_what_was_waited_for_is_a_finding() -> None:
    (found,) = judged_relu({0: HANG}).divergences.values()
    assert found.hangs


def judged_relu(ended: dict[int, Ended]) -> Cell:
    unit = dataclasses.replace(_samples_of("nn.functional.relu"), ended=ended)
    made: Sequence[Sample] = list(samples(unit, databases()[unit.database]))
    cell = Cell()
    for part in judged_samples(unit, made, Pair(TORCH, TORCH)):
        cell.merge(part.cell)
    assert cell.samples == len(made)
    return cell


def _samples_of(operator: str, kind: str = "sample") -> Unit:
    every = units(entries(), lambda key: key == f"{operator}/function/float32", 0)
    return next(unit for unit in every if unit.kind == kind)


def test_an_operator_that_never_answers_is_found_and_the_rest_of_its_samples_is_counted(
    monkeypatch: pytest.MonkeyPatch, importable_elsewhere: None, warm: None
) -> None:
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.deadly:waiting")
    unit, cell = _samples_of("sinh", "mutation"), Cell()
    with SweepEngine(1, deadline=2.0) as engine:
        engine.listed()
        engine.run([unit], lambda _, part, done: cell.merge(part))
    (found,) = [one for one in cell.divergences.values() if one.check == "survives"]
    assert found.key == "dies: no answer in 2 s"
    _, total = cell.checks["survives"]
    assert total <= HANGS
    assert "not run: other samples of this unit gave no answer" in cell.left_out
    assert cell.samples == len([*samples(unit, databases()[unit.database])])


class Unending:
    """A database that returns one sample and then hangs."""

    name = "unending"

    def entries(self) -> Sequence[DatabaseEntry]:
        return [DatabaseEntry(self.name, "relu", "", "other", ("function",), ("float32",), ("sample",), {})]

    def samples(self, key: str, form: Form, dtype: str, kind: SampleKind, seed: int) -> Iterator[Sample]:
        yield next(iter(samples(_samples_of("nn.functional.relu"), databases()["operators"])))
        time.sleep(600.0)


def test_samples_that_cannot_be_made_in_time_cost_one_wait_for_all_units_of_their_cell(
    monkeypatch: pytest.MonkeyPatch, importable_elsewhere: None, warm: None
) -> None:
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    monkeypatch.setattr("autotest.sweeping.timeouts._GENERATION_SECONDS", 2.0)
    database = Unending()
    unmade = list(units(database.entries(), lambda key: True, 0))
    cells = {unit.kind: Cell() for unit in unmade}
    with SweepEngine(1, databases=Databases(others=(database,))) as engine:
        engine.listed()
        engine.run(unmade, lambda unit, part, done: cells[unit.kind].merge(part))
    why = {"its samples could not be made: no answer in 2 s": 1}
    assert all(cell.left_out == why for cell in cells.values())  # similar samples are not waited for again
    assert cells["sample"].divergences == {}
    assert cells["sample"].accepted == 1  # earlier samples are judged
