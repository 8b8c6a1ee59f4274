"""Compares training with `autotest.harvest` with the same training without it. Yields rows."""

from __future__ import annotations

import functools
import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from autotest import harvest
from benchmarks.interleave import interleaved
from benchmarks.results import Row
from tests.harvest import networks

ALONE, RECORDED = "alone", "recorded"
#: Number of training steps in a turn.
STEPS = 20
#: Maximum ratio of the times.
GOAL = 3.0
CASES: dict[str, Callable[[int], float]] = {"images": networks.images, "texts": networks.texts}


def harvesting(rounds: int, only: str) -> Iterator[Row]:
    """Yield, for each training, the ratio of its time with recorded calls to its time without."""
    with tempfile.TemporaryDirectory() as folder:
        numbers = itertools.count()

        def recorded(train: Callable[[int], float], steps: int) -> None:
            with harvest(Path(folder) / f"{next(numbers)}.jsonl"):
                train(steps)

        for name, train in CASES.items():
            if only not in name:
                continue
            contenders = {ALONE: train, RECORDED: functools.partial(recorded, train)}
            timed = interleaved(contenders, rounds, count=STEPS)
            yield Row("recorded / alone, training", name, timed.ratio(RECORDED, ALONE), "x", GOAL)
