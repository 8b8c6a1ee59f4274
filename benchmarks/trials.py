"""Compares whole trials of this library with OneFlow's own autotest and a loop by hand.

The functions yield rows for the cases of `benchmarks.cases`.
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
#: Number of trials in a turn: one run of a test with the default number of trials.
TRIALS = 20


def eager(contenders: Contenders, rounds: int, size: int | None, only: str) -> Iterator[Row]:
    """Yield, for each case without a graph, the time of OneFlow's autotest / this, and of this / the loop by hand."""
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
    """Yield, for each case, the time with dtype, numbers and layout left open / the time with all of them fixed."""
    for case in _chosen(only):
        timed = _quietly(contenders.of_open(case), rounds)
        seconds = {name: statistics.median(times) for name, times in timed.seconds.items()}
        yield Row("all left open / all said, small", case.name, timed.ratio(OPEN, OURS), "x", None, True, seconds)


def graph(contenders: Contenders, rounds: int, only: str) -> Iterator[Row]:
    """Yield, for each case with its graph check, the time of OneFlow's autotest / this."""
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
