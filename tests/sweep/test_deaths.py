"""A sample that kills the process costs a fork, and a third one with such arguments is not run."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autotest.frameworks import Pair
from autotest.program import Array, Call, Program, Ref
from autotest.program.rewriting import tensor_call
from autotest.results.sweep import Cell
from autotest.sweeping import worker_position
from autotest.sweeping.arguments import arguments
from autotest.sweeping.counting import count_death
from autotest.sweeping.explaining import Question, answer
from autotest.sweeping.judged_units import JudgedPart
from autotest.sweeping.judging import SET_ASIDE, Judge
from autotest.sweeping.sampling import samples
from autotest.sweeping.supervising import supervised
from autotest.sweeping.units import Ended, Unit, after_end, units
from autotest.sweeping.worker import work
from autotest.sweeping.worker_position import PositionFile, Running
from tests.support.faulty import FaultyTorch
from tests.sweep.planted import TORCH, databases, deadly_relu, entries, fault


def relu_of(*shape: int, inplace: float = False, name: str = "relu") -> Program:
    array = Array(np.ones(shape, "float32"), "float32")
    calls = [tensor_call(0, 0, array, requires_grad=False), Call("function", name, (Ref(0),), {"inplace": inplace}, 1)]
    return Program(tuple(calls), (array,))


def test_arguments_are_alike_in_all_that_does_not_tend_to_kill() -> None:
    assert arguments(relu_of(2), refused=False) == arguments(relu_of(7, name="relu_"), refused=False)
    different = [relu_of(2), relu_of(2, 2), relu_of(0), relu_of()]
    assert len({arguments(program, refused=False) for program in different}) == len(different)
    assert arguments(relu_of(2), refused=False) != arguments(relu_of(2, inplace=True), refused=False)
    assert arguments(relu_of(2), refused=False) != arguments(relu_of(2), refused=True)
    shown = [arguments(relu_of(2, inplace=flag), refused=False) for flag in (2.5, 0, -1, float("nan"))]
    assert shown == [f"relu([1-d], inplace={word})" for word in ("number", "0", "negative", "NaN")]


def test_a_sample_that_kills_only_after_others_is_no_finding() -> None:
    """The cause may be that another sample damaged the memory of the process."""
    cell = Cell()
    ended = Ended(Running.CANDIDATE, "SIGSEGV", "")
    assert count_death(ended, "sample 0", relu_of(2), Judge(Pair(TORCH, TORCH)), cell) == ""
    assert cell.divergences == {}
    (reason,) = cell.left_out
    assert "but not alone" in reason


def needing(gib: int) -> FaultyTorch:
    """Return torch whose relu aborts in a process that may have no more than so many GiB of address space."""

    def dying(relu: Any) -> Any:
        def call(x: Any, *args: Any, **kwargs: Any) -> Any:
            if resource.getrlimit(resource.RLIMIT_AS)[0] <= gib << 30:
                os.abort()
            return relu(x, *args, **kwargs)

        return call

    return fault("relu", dying)


@pytest.mark.parametrize(("gib", "blamed"), [(100, False), (1000, True)])
def test_a_sample_that_died_of_memory_that_others_hold_is_no_finding(gib: int, blamed: bool) -> None:
    cell = Cell()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (64 << 30, before[1]))
    try:
        count_death(
            Ended(Running.CANDIDATE, "SIGABRT", ""), "sample 0", relu_of(2), Judge(Pair(TORCH, needing(gib))), cell
        )
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert bool(cell.divergences) is blamed
    assert bool(cell.left_out) is not blamed


def test_a_sample_that_gave_no_answer_is_counted_without_waiting_for_it_again() -> None:
    cell = Cell()
    ended = Ended(Running.CANDIDATE, "no answer in 20 s", "", hung=True)
    assert count_death(ended, "sample 0", relu_of(2), Judge(Pair(TORCH, TORCH)), cell)
    (found,) = cell.divergences.values()
    assert (found.check, found.message) == ("survives", "relu: torch ends with no answer in 20 s")
    assert found.hangs


@pytest.mark.parametrize(("hangs", "symptom"), [(True, "hang"), (False, "crash")])
def test_whether_a_candidate_hangs_is_not_read_out_of_its_last_words(hangs: bool, symptom: str) -> None:
    message = "relu: torch ends with SIGABRT: the server gave no answer"
    question = Question("survives", message, "sample 0", relu_of(2), hangs=hangs)
    found = answer(question, Pair(TORCH, TORCH)).finding
    assert found is not None
    assert found.first.symptom == symptom


def test_a_fork_that_gives_no_answer_is_no_finding_and_the_worker_itself_judges_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = _samples_of_relu()
    first = after_end(unit, 3, 4, Ended(Running.CANDIDATE, "SIGABRT", ""))
    assert (first.start, first.in_forks, set(first.ended)) == (3, True, {4})
    rest = after_end(first, 5, 6, Ended(Running.CANDIDATE, "no answer in 20 s", "", hung=True))
    assert (rest.start, rest.in_forks, set(rest.ended)) == (5, False, {4})
    # The worker itself hangs.
    hung = after_end(rest, 6, 6, Ended(Running.CANDIDATE, "no answer in 20 s", "", hung=True))
    assert (hung.start, hung.in_forks, set(hung.ended)) == (6, False, {4, 6})

    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.deadly:at_home")
    assert not _worked(
        dataclasses.replace(rest, start=0, ended={99: Ended(Running.CANDIDATE, "", "")}), tmp_path
    ).divergences
    assert _worked(
        dataclasses.replace(first, start=0, ended={99: Ended(Running.CANDIDATE, "", "")}), tmp_path
    ).divergences


class _TornPipe:
    """The writing end of a pipe whose process ends in the middle of its first message."""

    def __init__(self, end: Any) -> None:
        self.close = end.close
        self._end = end

    def send(self, part: JudgedPart) -> None:
        os.write(self._end.fileno(), (1000).to_bytes(4, "big") + b"torn")
        os._exit(3)


def test_a_child_that_ends_in_the_middle_of_a_message_costs_no_more_than_its_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torn: list[_TornPipe] = []

    def pipe(*, duplex: bool) -> tuple[Any, Any]:
        reading, writing = multiprocessing.Pipe(duplex=duplex)
        if torn:
            return reading, writing
        torn.append(_TornPipe(writing))
        return reading, torn[0]

    monkeypatch.setattr("autotest.sweeping.supervising.Pipe", pipe)
    unit = _samples_of_relu()
    worker_position.create(tmp_path / "trail")
    made = [*samples(unit, databases()[unit.database])][:3]
    cell = Cell()
    for part in supervised(unit, made, Pair(TORCH, TORCH), PositionFile(tmp_path / "trail"), tmp_path / "log"):
        cell.merge(part.cell)
    assert cell.samples == len(made)
    assert cell.accepted >= len(made) - 1


def _samples_of_relu() -> Unit:
    every = units(entries(), lambda key: key == "nn.functional.relu/function/float32", 0)
    return next(unit for unit in every if unit.kind == "sample")


class _Connection:
    """Gives a worker one unit."""

    def __init__(self, unit: Unit) -> None:
        self._units = [unit]
        self.cell = Cell()

    def recv(self) -> Unit:
        if not self._units:
            raise EOFError
        return self._units.pop()

    def send(self, part: JudgedPart) -> None:
        self.cell.merge(part.cell)


def _worked(unit: Unit, folder: Path) -> Cell:
    """Return the result of a worker for `unit`."""
    worker_position.create(folder / "trail")
    connection: Any = _Connection(unit)
    server: Any = None
    with pytest.raises(EOFError):
        work(connection, server, folder / "trail", folder / "log", None)
    cell: Cell = connection.cell
    return cell


def test_deaths_cost_their_samples_and_the_known_ones_are_left_out(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    unit = _samples_of_relu()
    worker_position.create(tmp_path / "trail")
    made = [*samples(unit, databases()[unit.database])] * 3
    cell = Cell()
    for part in supervised(unit, made, Pair(TORCH, deadly_relu()), PositionFile(tmp_path / "trail"), tmp_path / "log"):
        cell.merge(part.cell)
    passed, total = cell.checks["survives"]
    assert total - passed == 2
    assert cell.left_out[SET_ASIDE] == 1
    assert cell.samples == len(made)
    (death,) = [found for found in cell.divergences.values() if found.check == "survives"]
    assert death.program is not None
    assert "SIGABRT" in death.message
