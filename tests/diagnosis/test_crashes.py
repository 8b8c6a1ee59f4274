"""A program that kills its process is shrunk in other processes, and this process survives."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from autotest.diagnosis import crashing
from autotest.diagnosis.shrinking.probing import ProbeOptions
from autotest.frameworks import Pair, chosen_pair
from autotest.processes.client import Server
from autotest.program import Array, Call, Captured, Program, Ref
from autotest.program.rewriting import chained


def tensor(slot: int, index: int) -> Call:
    return Call("tensor", "float32", (Captured(index),), {"requires_grad": True, "device": "cpu"}, slot)


def dying(*shape: int) -> Program:
    """Return a program of exp, tanh and relu. The planted candidate dies in a relu without elements."""
    data = np.ones(shape, np.float32)
    calls = [Call("function", name, (Ref(slot),), {}, slot + 1) for slot, name in enumerate(("exp", "tanh", "relu"))]
    return Program((tensor(0, 0), *calls), (Array(data, "float32"),))


@pytest.fixture(autouse=True)
def _children_with_the_fault(monkeypatch: pytest.MonkeyPatch, importable_elsewhere: None) -> None:
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.faults:dies_of_nothing")


@pytest.fixture(params=["in forks of a process without the candidate", "in forks of this process"])
def pair(request: pytest.FixtureRequest, _children_with_the_fault: None) -> Pair:
    made = chosen_pair()
    if "this" in request.param:
        assert made.candidate.version
        assert made.reference.version
    return made


@pytest.fixture
def server(warm: None) -> Iterator[Server]:
    with contextlib.closing(Server()) as made:
        yield made


def test_programs_one_after_the_other_are_one_program() -> None:
    whole = chained([dying(2, 1), dying(0), dying(3)])
    assert [call.target for call in whole.calls] == ["float32", "exp", "tanh", "relu"] * 3
    assert [array.data.shape for array in whole.arrays] == [(2, 1), (0,), (3,)]
    assert [call.args for call in whole.calls[4:6]] == [(Captured(1),), (Ref(4),)]
    parts = [Program((tensor(0, 0),), (Array(np.ones(1), "float64"),), frozenset([0]))] * 2
    assert chained(parts).undefined == {0, 1}


@pytest.mark.slow
def test_a_crash_shrinks_to_the_call_that_kills(pair: Pair, server: Server) -> None:
    smaller = crashing.shrink(dying(4, 0, 3), pair, server, seconds=100.0, jobs=2)
    assert smaller is not None
    assert [call.target for call in smaller.program.calls] == ["float32", "relu"]
    assert smaller.program.arrays[0].data.shape == (0,)


@pytest.mark.slow
def test_a_program_that_survives_is_left_alone(pair: Pair, server: Server) -> None:
    assert crashing.shrink(dying(1, 2), pair, server, seconds=60.0, jobs=1) is None


@pytest.mark.slow
def test_what_only_waits_in_a_fork_of_this_process_is_shrunk_where_it_dies(
    monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.deadly:lacking")
    pair = chosen_pair()
    pair.candidate.resolve("cosh")(pair.candidate.tensor(Array(np.ones(1, np.float32), "float32")))
    calls = [Call("function", name, (Ref(slot),), {}, slot + 1) for slot, name in enumerate(("exp", "sinh"))]
    program = Program((tensor(0, 0), *calls), (Array(np.ones((2, 1), np.float32), "float32"),))
    smaller = crashing.shrink(program, pair, server, options=ProbeOptions(20.0), seconds=60.0, jobs=1)
    assert smaller is not None
    assert not smaller.in_forks
    assert [call.target for call in smaller.program.calls] == ["float32", "sinh"]


@pytest.mark.slow
def test_what_a_fork_survives_once_and_not_every_time_is_shrunk_in_forks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: Server
) -> None:
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.deadly:seldom")  # one call in 25 kills
    monkeypatch.setenv("TESTS_CALLS", str(tmp_path / "calls"))
    pair = chosen_pair()
    pair.load()
    program = Program((tensor(0, 0), Call("function", "sinh", (Ref(0),), {}, 1)), (Array(np.ones(1), "float32"),))
    smaller = crashing.shrink(program, pair, server, options=ProbeOptions(times=10), seconds=1.0, jobs=1)
    assert smaller is not None
    assert smaller.in_forks


@pytest.mark.slow
def test_what_dies_now_and_then_shrinks_when_every_program_is_run_often(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pair: Pair, server: Server
) -> None:
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.deadly:seldom")
    monkeypatch.setenv("TESTS_CALLS", str(tmp_path / "calls"))
    calls = [Call("function", name, (Ref(slot),), {}, slot + 1) for slot, name in enumerate(("exp", "sinh"))]
    program = Program((tensor(0, 0), *calls), (Array(np.ones((4, 3), np.float32), "float32"),))
    assert crashing.shrink(program, pair, server, seconds=60.0, jobs=1) is None
    smaller = crashing.shrink(program, pair, server, options=ProbeOptions(times=30), seconds=60.0, jobs=1)
    assert smaller is not None
    assert [call.target for call in smaller.program.calls] == ["float32", "sinh"]
