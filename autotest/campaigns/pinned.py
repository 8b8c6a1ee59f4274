"""The pinned trials of tests, which a campaign runs once, before any other trial."""

from __future__ import annotations

import collections
from collections.abc import Sequence

from autotest.campaigns.plan import Plan
from autotest.results.progress import TestProgress
from autotest.results.tasks import Where


class PinnedTrials:
    """Queue of the pinned trials of all tests that are still to be run, each under its own base seed."""

    def __init__(self, tests: Sequence[TestProgress], plan: Plan) -> None:
        """Queue those pinned trials that belong to the plan's shard."""
        part, parts = plan.shard
        pinned = [(test, base, index) for test in tests for base, index in test.pinned]
        #: The tests with pinned trials, by the `Where` (with the pinned base seed) of those trials.
        self.by_where: dict[Where, TestProgress] = {}
        self._waiting: collections.deque[tuple[Where, range]] = collections.deque()
        for test, base, index in pinned[part - 1 :: parts]:
            where = test.where._replace(base_seed=base)
            self.by_where[where] = test
            self.again(where, range(index, index + 1))

    def next(self) -> tuple[Where, range] | None:
        """Return the next pinned trial to run, or None if all were handed out."""
        return self._waiting.popleft() if self._waiting else None

    def again(self, where: Where, indices: range) -> None:
        """Queue trials again that were handed out but returned without having run."""
        self._waiting.append((where, indices))
