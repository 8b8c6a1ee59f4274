"""Which test is to be explored next: of those that the fewest workers run, the one that had least of what it is due."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence

from autotest.results.progress import TestProgress
from autotest.results.tasks import Where

#: A test that still finds something gets this many times the time of one that does not; it never gets none.
FAVOUR = 4.0
#: For how many tasks it counts as finding something.
PATIENCE = 3


class Turns:
    """The tests of a campaign that have trials left, in their order; a thousand workers ask many times a second."""

    def __init__(self, tests: Sequence[TestProgress], seed: int, ready: Callable[[TestProgress], bool]) -> None:
        """`ready` says whether there is something left to run of a test."""
        self._ready = ready
        self._tests = {test.where: test for test in tests}
        # Not in the order of the files: a short run looks into all of them, and what kills does not come in a row.
        ranks = random.Random(seed).sample(range(len(tests)), len(tests))
        self._ranks = dict(zip(self._tests, ranks, strict=False))
        #: How many tasks of each test are being carried out.
        self._running = dict.fromkeys(self._tests, 0)
        #: Entries with an older number than this are of a place that a test no longer has.
        self._numbers = dict.fromkeys(self._tests, 0)
        self._heap: list[tuple[int, float, int, int, Where]] = []
        for where in self._tests:
            self._enter(where)

    def next(self) -> TestProgress | None:
        """The test whose turn it is, which counts as running from here on; None when nothing is left to run."""
        while self._heap:
            *_, number, where = heapq.heappop(self._heap)
            test = self._tests[where]
            if number == self._numbers[where] and self._ready(test):
                self._running[where] += 1
                self._enter(where)
                return test
        return None

    def begun(self, where: Where) -> None:
        """Something else than its turn is run of this test."""
        self._running[where] += 1
        self._enter(where)

    def ended(self, where: Where) -> None:
        """A task of this test came back, and was counted."""
        self._running[where] -= 1
        self._enter(where)

    def _enter(self, where: Where) -> None:
        test = self._tests[where]
        self._numbers[where] += 1
        share = test.seconds / (FAVOUR if test.unrewarded < PATIENCE else 1.0)
        entry = (self._running[where], share, self._ranks[where], self._numbers[where], where)
        heapq.heappush(self._heap, entry)
