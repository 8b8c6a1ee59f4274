"""Python's and NumPy's global random generators, which a body may use: each trial seeds them with its own seed."""

# ruff: noqa: NPY002 - the generators that bodies of tests may draw from

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

# pytest and unittest leave this module out of the traceback of a failed test.
__tracebackhide__ = True
__unittest = True

T = TypeVar("T")

#: Number of trials of a body that draws nothing for which both generators are seeded once.
_TRIALS = 64


def seed(number: int) -> None:
    """Seed both generators."""
    random.seed(number)
    np.random.seed(number & 0xFFFFFFFF)


class BodyGenerators:
    """Both generators, for the trials of one body.

    Seeding takes longer than everything else at the start of a trial, and few bodies use these generators. Therefore
    only the first trial seeds them. After each trial, their next numbers are compared with those expected if nothing
    was drawn. Once a body has drawn, every trial is seeded, and the first trial that drew without its seed is run
    again.
    """

    __slots__ = ("_are_drawn_from", "_next")

    def __init__(self) -> None:
        self._are_drawn_from = False
        #: The next numbers of both generators, in reverse order.
        self._next: list[tuple[int, int]] = []

    def run(self, number: int, trial: Callable[[], T]) -> T:
        """Run `trial` with both generators as if seeded by `number`, and return its result or raise its exception."""
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
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # pytest's own exceptions, as of `pytest.fail`, are no `Exception`
            self._look()
            if is_seeded or not self._are_drawn_from:
                raise
        else:
            self._look()
            if is_seeded or not self._are_drawn_from:
                return result
        return self.run(number, trial)

    def _look(self) -> None:
        numbers = random.getrandbits(32), np.random.get_bit_generator().random_raw()
        self._are_drawn_from = numbers != self._next.pop()


def _series(count: int) -> tuple[Iterable[int], Iterable[int]]:
    """Return the next `count` numbers of each generator, which it gives one by one, too."""
    return map(random.getrandbits, [32] * count), np.random.get_bit_generator().random_raw(count).tolist()
