"""Whole trials of this library beside OneFlow's own autotest and a loop by hand.

Leave rows; the cases are `benchmarks.cases`.
"""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Iterator, Mapping

from benchmarks.cases import CASES, Case
from benchmarks.contenders import BY_HAND, OPEN, OURS, THEIRS, Contenders
from benchmarks.interleave import Trials, interleaved
from benchmarks.results import Row, median_row

LARGE = 256
#: A turn is one run of a test with as many trials as a test has by default.
TRIALS = 20


def eager(contenders: Contenders, rounds: int, size: int | None, only: str) -> Iterator[Row]:
    """Each case without graph: how many times faster than OneFlow's autotest, and the share of the loop by hand."""
    told = "small" if size is None else f"{size}x{size}"
    faster = []
    for case in _chosen(only):
        timed = _quietly(contenders.of(case, size), rounds)
        seconds = {name: statistics.median(times) for name, times in timed.seconds.items()}
        goal = 5.0 if size is None else None
        row = Row(f"OneFlow's autotest / this, {told}", case.name, timed.ratio(THEIRS, OURS), "x", goal, False, seconds)
        faster.append(row)
        yield row
        yield Row(f"this / loop by hand, {told}", case.name, timed.ratio(OURS, BY_HAND), "x", 1.0, True, seconds)
    if faster and size is None and not only:
        yield median_row(f"OneFlow's autotest / this, {told}", "median of the cases", faster, 10.0)


def left_open(contenders: Contenders, rounds: int, only: str) -> Iterator[Row]:
    """How many times longer a trial of each case takes where dtype, numbers and layout are not said."""
    for case in _chosen(only):
        timed = _quietly(contenders.of_open(case), rounds)
        seconds = {name: statistics.median(times) for name, times in timed.seconds.items()}
        yield Row("all left open / all said, small", case.name, timed.ratio(OPEN, OURS), "x", None, True, seconds)


def graph(contenders: Contenders, rounds: int, only: str) -> Iterator[Row]:
    """Each case with its graph check."""
    for case in _chosen(only):
        timed = _quietly(contenders.of(case, None, graph=True), rounds)
        seconds = {name: statistics.median(times) for name, times in timed.seconds.items()}
        goal = 3.0 if case.name.startswith("chain") else 1.5
        section = "OneFlow's autotest / this, small, with graph"
        yield Row(section, case.name, timed.ratio(THEIRS, OURS), "x", goal, False, seconds)


def _chosen(only: str) -> Iterator[Case]:
    return (case for case in CASES if only in case.name)


def _quietly(timed: Mapping[str, Trials], rounds: int):  # type: ignore[no-untyped-def]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # OneFlow's autotest reads gradients of tensors that have none
        return interleaved(timed, rounds, count=TRIALS)
