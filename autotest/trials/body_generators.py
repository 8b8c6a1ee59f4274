"""Python's and NumPy's own generators, from which a body may draw: each trial finds them seeded by its own seed."""

# ruff: noqa: NPY002 - the generators that bodies of tests may draw from

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

# What runs a test is no part of its traceback: for pytest, for unittest.
__tracebackhide__ = True
__unittest = True

T = TypeVar("T")

#: For so many trials of a body that draws nothing both are seeded once.
_TRIALS = 64


def seed(number: int) -> None:
    """Seed both."""
    random.seed(number)
    np.random.seed(number & 0xFFFFFFFF)


class BodyGenerators:
    """Both, for the trials of one body.

    To seed them takes longer than all else that begins a trial, and hardly any body draws from them. So the first
    trial finds them seeded, and after each the numbers that they give next are held against those which they would give
    if nobody had drawn. Once somebody has, every trial is seeded; the first of those that was not is run again.
    """

    __slots__ = ("_are_drawn_from", "_next")

    def __init__(self) -> None:
        self._are_drawn_from = False
        #: The numbers that both give next, the first of them at the end.
        self._next: list[tuple[int, int]] = []

    def run(self, number: int, trial: Callable[[], T]) -> T:
        """What `trial` returns or raises, whose body finds both as `number` seeds them."""
        if self._are_drawn_from:
            seed(number)
            return trial()
        is_seeded = not self._next
        if is_seeded:
            seed(number)
            self._next = list(zip(*_series(_TRIALS), strict=True))[::-1]
            seed(number)
        try:
            result = trial()
        except Exception:
            self._look()
            if is_seeded or not self._are_drawn_from:
                raise
        else:
            self._look()
            if is_seeded or not self._are_drawn_from:
                return result
        return self.run(number, trial)

    def _look(self) -> None:
        self._are_drawn_from = _numbers() != self._next.pop()


def _series(count: int) -> tuple[Iterable[int], Iterable[int]]:
    """As many of the next numbers of each: what `_numbers` gives so many times."""
    return map(random.getrandbits, [32] * count), np.random.get_bit_generator().random_raw(count).tolist()


def _numbers() -> tuple[int, int]:
    """The next number of each."""
    return random.getrandbits(32), int(np.random.get_bit_generator().random_raw())


__all__ = ["BodyGenerators", "seed"]
