"""Chooses the next test to explore.

Among the tests that the fewest workers run, it is the test that has received the least of its share of the time.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence

from autotest.results.progress import TestProgress
from autotest.results.tasks import Where

#: A test that still finds something new gets this many times the time of one that does not; every test gets some.
REWARD_FACTOR = 4.0
#: Number of tasks without anything new after which a test no longer counts as finding something.
MAX_UNREWARDED_TASKS = 3


class ExplorationScheduler:
    """Priority queue of the tests of a campaign that have trials left.

    It is a heap because a campaign with a thousand workers takes a test from it many times a second.
    """

    def __init__(self, tests: Sequence[TestProgress], seed: int, ready: Callable[[TestProgress], bool]) -> None:
        """Queue `tests`; `ready` returns whether a test has anything left to run."""
        self._ready = ready
        self._tests = {test.where: test for test in tests}
        # The order is shuffled: a short run then reaches tests of all files, and tests that crash are not run in a row.
        ranks = random.Random(seed).sample(range(len(tests)), len(tests))
        self._ranks = dict(zip(self._tests, ranks, strict=False))
        #: Number of running tasks of each test.
        self._running = dict.fromkeys(self._tests, 0)
        #: Number of the valid heap entry of each test. A heap entry with an older number is outdated and is skipped.
        self._numbers = dict.fromkeys(self._tests, 0)
        self._heap: list[tuple[int, float, int, int, Where]] = []
        for where in self._tests:
            self._enter(where)

    def next(self) -> TestProgress | None:
        """Return the next test and count it as running; None if nothing is left to run."""
        while self._heap:
            *_, number, where = heapq.heappop(self._heap)
            test = self._tests[where]
            if number == self._numbers[where] and self._ready(test):
                self._running[where] += 1
                self._enter(where)
                return test
        return None

    def begun(self, where: Where) -> None:
        """Count a task of this test as running that `next` did not choose."""
        self._running[where] += 1
        self._enter(where)

    def ended(self, where: Where) -> None:
        """Count a task of this test as finished; its result must have been added to the test's progress before."""
        self._running[where] -= 1
        self._enter(where)

    def _enter(self, where: Where) -> None:
        test = self._tests[where]
        self._numbers[where] += 1
        share = test.seconds / (REWARD_FACTOR if test.unrewarded < MAX_UNREWARDED_TASKS else 1.0)
        entry = (self._running[where], share, self._ranks[where], self._numbers[where], where)
        heapq.heappush(self._heap, entry)
