"""A trial whose candidate is in another interpreter, beside one with the same candidate in this one.

Leaves rows: what passes on the clock, and what both processes compute, which a busy machine disturbs less.
"""

from __future__ import annotations

import functools
import itertools
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import autotest
from autotest.frameworks import Pair, framework
from autotest.frameworks.interpreter import Interpreter
from benchmarks.cases import CASES, Case
from benchmarks.contenders import LikeTheOthers
from benchmarks.interleave import Clock, Trials, interleaved
from benchmarks.results import Row

HERE, ELSEWHERE = "in this interpreter", "in another"
#: As many as a test has by default, and as many as are sent at once.
TRIALS = 20
#: How many times longer it may take.
GOAL = 1.3
_NAMES = ("relu", "Conv2d module", "chain of 10 calls")


def elsewhere(rounds: int, only: str, candidates: tuple[str, ...] = ("torch", "oneflow")) -> Iterator[Row]:
    """Each case with each of `candidates`, here and in a second process of this interpreter."""
    for name in candidates:
        other = framework(f"python:{sys.executable}:{name}")
        assert isinstance(other, Interpreter)
        pairs = {HERE: Pair(framework("torch"), framework(name)), ELSEWHERE: Pair(framework("torch"), other)}
        computed = _computing(other)
        for case in CASES:
            if case.name not in _NAMES or only not in case.name:
                continue
            contenders = {where: _trials(case, pair) for where, pair in pairs.items()}
            clocks: tuple[tuple[str, Clock, float | None], ...] = (
                ("time", time.perf_counter, GOAL),
                ("computing", computed, None),
            )
            for what, clock, goal in clocks:
                timed = interleaved(contenders, rounds, clock=clock, count=TRIALS)
                seconds = {key: statistics.median(times) for key, times in timed.seconds.items()}
                section = f"another interpreter / this one, {name}, {what}"
                yield Row(section, case.name, timed.ratio(ELSEWHERE, HERE), "x", goal, True, seconds)


def _trials(case: Case, pair: Pair) -> Trials:
    def body() -> Any:
        return case.body(LikeTheOthers, None)

    @functools.cache
    def test(count: int, seed: int) -> Any:
        return autotest.autotest(n=count, seed=seed, pair=pair, special_values=False)(body)

    seeds = itertools.count(1)

    def trials(count: int) -> None:
        test(count, next(seeds))()

    return trials


def _computing(other: Interpreter) -> Clock:
    """Seconds that this process and that of `other` have computed, in all of their threads."""

    def clock() -> float:
        tasks = Path(f"/proc/{other.process}/task") if other.process else None
        threads = () if tasks is None else tasks.iterdir()
        there = sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads)
        return time.process_time() + there / 1e9

    return clock
