"""Compares trials whose candidate is in another interpreter with trials of the same candidate in this one.

Yields rows for the wall-clock time, and for the processor time of both processes, which a busy machine disturbs less.
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
from autotest.frameworks.remote.interpreter import Interpreter
from benchmarks.cases import CASES, Case
from benchmarks.contenders import LikeTheOthers
from benchmarks.interleave import Clock, Trials, interleaved
from benchmarks.results import Row

HERE, ELSEWHERE = "in this interpreter", "in another"
#: Number of trials in a turn: the default number of trials of a test, which are also sent together.
TRIALS = 20
#: Maximum ratio of the times.
GOAL = 1.3
_NAMES = ("relu", "Conv2d module", "chain of 10 calls")


def elsewhere(rounds: int, only: str, candidates: tuple[str, ...] = ("torch", "oneflow")) -> Iterator[Row]:
    """Yield rows for each case and candidate: in this process against a second process of the same interpreter."""
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
    """Return a clock of the processor seconds that this process and that of `other` have used, in all threads."""

    def clock() -> float:
        tasks = Path(f"/proc/{other.process}/task") if other.process else None
        threads = () if tasks is None else tasks.iterdir()
        there = sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads)
        return time.process_time() + there / 1e9

    return clock
