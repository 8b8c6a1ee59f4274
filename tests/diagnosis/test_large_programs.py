"""Programs with millions of numbers are made smaller first, without a copy of all numbers in each step."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from autotest.base.settings import Settings
from autotest.comparison.elementwise import _AT_ONCE, statistics
from autotest.diagnosis.attribution.referee import cleared
from autotest.diagnosis.rounding.double_precision import RUNS, DoublePrecision
from autotest.diagnosis.shrinking import shrinker as shrinking
from autotest.diagnosis.shrinking.failure_signature import FailureSignature
from autotest.diagnosis.shrinking.shrinker import ProgramJudge, Shrinker
from autotest.frameworks import Pair
from autotest.frameworks.torch import TorchFramework
from autotest.program import Array, Call, Captured, Program, Ref, reduction
from autotest.replaying.agreement import agree
from tests.support.faulty import FaultyTorch, plus

INPUT = {"requires_grad": False, "device": "cpu"}
WRONG = plus(1.0)
FAILURE = FailureSignature("value", "forward", "candidate", "exp", "")


def program(*shape: int) -> Program:
    calls = (
        Call("tensor", "float32", (Captured(0),), INPUT, 0),
        Call("function", "exp", (Ref(0),), {}, 1),
        Call("function", "sin", (Ref(1),), {}, 2),
    )
    numbers = np.arange(math.prod(shape), dtype="float32").reshape(shape) / math.prod(shape)
    return Program(calls, (Array(numbers, "float32"),))


@pytest.fixture
def shrinker(monkeypatch):
    """Shrink a program of 64 x 64 numbers with no time left; collect the number of elements of each run."""
    ran: list[int] = []

    def judge(candidate, pair, settings):
        ran.append(reduction.elements(candidate))
        return agree(candidate, pair, settings)

    def make(large: int, fault: Any = WRONG) -> tuple[Shrinker, list[int]]:
        monkeypatch.setattr(shrinking, "_LARGE", large)
        pair, settings = Pair(TorchFramework(), FaultyTorch({"exp": fault})), Settings()
        start = agree(program(64, 64), pair, settings)
        return Shrinker(start, FAILURE, ProgramJudge(pair, settings, judge), seconds=0.0), ran

    return make


def test_a_large_program_is_made_smaller_even_when_its_time_is_over(shrinker):
    large, ran = shrinker(large=1000)
    smallest = large.shrink().agreement.program
    assert reduction.elements(smallest) == 1
    assert len(ran) <= shrinking._ALWAYS_RUN


def test_a_small_one_is_not(shrinker):
    small, ran = shrinker(large=10_000)
    assert reduction.elements(small.shrink().agreement.program) == 64 * 64
    assert ran == []


def test_the_sizes_of_a_large_program_come_first(shrinker):
    large, ran = shrinker(large=1000)
    large.shrink()
    assert min(ran[:2]) == 1, "after the same numbers in one dimension"


def test_the_numbers_of_what_stays_large_are_alike_when_they_may_be_any(shrinker):
    def wrong_where_there_are_many(exp):
        return lambda x: exp(x) + (x.numel() > 3000)

    large, _ = shrinker(large=1000, fault=wrong_where_there_are_many)
    smallest = large.shrink().agreement.program
    assert 3000 < reduction.elements(smallest) < 64 * 64
    assert len(np.unique(smallest.arrays[0].data)) == 1


def test_looking_for_passing_programs_ends_with_the_time(shrinker):
    large, ran = shrinker(large=10_000)
    assert large.passing_neighbours() == []
    assert ran == []


def test_programs_are_told_apart_without_keeping_their_numbers():
    one, other = program(500, 500), program(500, 500)
    other.arrays[0].data[-1, -1] = 2.0
    assert len(reduction.digest(one)) < 100
    assert reduction.digest(one) == reduction.digest(program(500, 500)) != reduction.digest(other)
    assert reduction.digest(program(4, 9)) != reduction.digest(program(9, 4))


@pytest.mark.parametrize(("room", "passes"), [(2 * 64 * 64, 1), (64 * 64 - 1, 2)])
def test_places_that_differ_are_held_against_the_same_runs_as_far_as_there_is_room(monkeypatch, room, passes):
    monkeypatch.setattr("autotest.diagnosis.rounding.double_precision._AT_ONCE", room)
    made: list[Any] = []
    run = DoublePrecision._run_moved
    monkeypatch.setattr(DoublePrecision, "_run_moved", lambda self, *told: (made.append(told), run(self, *told))[1])
    off = FaultyTorch({"exp": lambda exp: lambda x: exp(x) * (1 + 2.0**-10)})
    pair, settings = Pair(TorchFramework(), off), Settings()
    focus = agree(program(64, 64), pair, settings)
    double = DoublePrecision(focus, pair, settings)
    assert [item.slot for item in focus.mismatches] == [1, 2]
    told = [double.measured(item) for item in focus.mismatches]
    assert len(made) == passes * RUNS
    alone = [
        DoublePrecision(dataclasses.replace(focus, mismatches=[item]), pair, settings).measured(item)
        for item in focus.mismatches
    ]
    assert told == alone
    assert [double.measured(item) for item in focus.mismatches] == told
    assert len(made) == (passes + 2) * RUNS, "what was measured is not measured again"


def test_nobody_else_is_asked_about_what_rounding_explains(monkeypatch):
    asked = []

    def ask(*given: Any, **named: Any) -> Any:
        asked.append(given)
        return ()

    monkeypatch.setattr("autotest.diagnosis.attribution.referee.opinions", ask)

    random = np.random.Generator(np.random.SFC64(0))
    terms = random.normal(0, 1000, 2048).astype("float32")
    numbers = random.permutation(np.concatenate([terms, -terms, [1.0]])).astype("float32")
    calls = (Call("tensor", "float32", (Captured(0),), INPUT, 0), Call("function", "sum", (Ref(0),), {}, 1))
    cancelling = Program(calls, (Array(numbers, "float32"),))

    def cleared_of(total: Any) -> bool:
        pair, settings = Pair(TorchFramework(), FaultyTorch({"sum": total})), Settings()
        found = agree(cancelling, pair, settings)
        assert found.mismatches
        return cleared(found, pair, settings) is not None

    assert cleared_of(lambda _: lambda x: x.cumsum(0)[-1])
    assert asked == []
    assert not cleared_of(WRONG)
    assert len(asked) > 0


def test_units_in_the_last_place_are_counted_over_all_of_a_large_array():
    expected = np.ones(3 * _AT_ONCE + 5, "float32")
    actual = expected.copy()
    actual[-1] += 2.0**-20
    found = statistics(expected, actual, expected != actual, 0.0, 0.0, "float32")
    assert found.ulps == 8
    actual[7] += 2.0**-19
    assert statistics(expected, actual, np.ones(expected.shape, bool), 0.0, 0.0, "float32").ulps == 16
