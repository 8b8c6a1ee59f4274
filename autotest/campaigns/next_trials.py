"""Decides which trials a worker runs next."""

from __future__ import annotations

import sys
from collections.abc import Callable

from autotest.campaigns.coverage_gaps import COUNTED, WINDOW, CoverageGaps, pop_trial
from autotest.campaigns.deadly_calls import DeadlyCalls
from autotest.campaigns.exploration_scheduler import ExplorationScheduler
from autotest.campaigns.pinned import PinnedTrials
from autotest.campaigns.plan import Plan
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.tasks import Explore, Explored, Where

#: Seconds of trials in one task: long enough that handing it over costs little, short enough to stop soon.
TASK_SECONDS = 0.4
#: Largest number of trials in one task.
TASK_TRIALS = 1000
#: Largest number of tasks handed out in a second. With more workers than this can serve, tasks become longer.
TASKS_A_SECOND = 400
#: A test ends after this many consecutive trials in which everything it did was set aside.
IDLE_TRIALS = 10


class NextTrials:
    """The trials of a campaign that are still to be run: pinned ones first, then a fair share of each test."""

    def __init__(self, progress: CampaignProgress, plan: Plan, deadly: DeadlyCalls, slots: Callable[[], int]) -> None:
        """Continue from `progress`.

        Args:
            progress: what was run so far. Its tests are updated.
            plan: what to run.
            deadly: the calls that killed workers, which later trials set aside.
            slots: returns the number of workers.
        """
        self._plan = plan
        self._deadly = deadly
        self._slots = slots
        self._pinned = PinnedTrials(progress.tests, plan)
        self._by_where = self._pinned.by_where | {test.where: test for test in progress.tests}
        self._gaps = CoverageGaps(progress.covered)
        self._scheduler = ExplorationScheduler(progress.tests, plan.base_seed, self._has_more)

    def test_of(self, task: Explore) -> TestProgress:
        """Return the progress of the test whose trials `task` runs."""
        return self._by_where[task.where]

    def find(self, where: Where) -> TestProgress | None:
        """Return the progress of the test at `where`; None if the campaign has no such test."""
        return self._by_where.get(where)

    def next_task(self) -> Explore | None:
        """Return a task with a pinned trial, or else with trials of the test that has received least of its share."""
        pinned = self._pinned.next()
        if pinned is not None:
            where, indices = pinned
            self._scheduler.begun(self._by_where[where].where)
        else:
            chosen = self._scheduler.next()
            if chosen is None:
                return None
            where, indices = chosen.where, self._indices(chosen)
        aside, watched = self._deadly.set_aside(where.test), self._deadly.watched()
        seconds = self._length_factor * TASK_SECONDS
        plan, counted = self._plan, self._counts(where)
        flags = counted, plan.drawn, plan.until_refused, plan.all_require_grad
        return Explore(where, indices, seconds, aside, watched, *flags)

    @property
    def _prefers_gaps(self) -> bool:
        """Whether trials that close gaps run first. Not with a number of trials: then all of them run, in order."""
        return self._plan.trials is None

    def _counts(self, where: Where) -> bool:
        return self._plan.coverage or (self._prefers_gaps and self._by_where[where].tried < COUNTED)

    @property
    def _length_factor(self) -> float:
        """Factor by which tasks are longer than usual, so that many workers ask for them seldom enough."""
        return max(1.0, self._slots() / (TASKS_A_SECOND * TASK_SECONDS))

    def _indices(self, test: TestProgress) -> range:
        """Return the next trials of `test`: one that may close a gap, or returned ones, or one task of new ones."""
        upcoming = self._range(range(test.next, test.next + WINDOW))
        place = self._gaps.best_trial(test.where, [*test.returned, upcoming]) if self._prefers_gaps else None
        if place is not None:
            new = max(0, place + 1 - sum(map(len, test.returned)))
            test.returned += [upcoming[:new]] if new else []
            test.next += new
            return pop_trial(test.returned, place)
        if test.returned:
            return test.returned.pop()
        pace, length = TASK_SECONDS / 10 if test.pace is None else test.pace, self._length_factor
        fitting = int(length * TASK_SECONDS / max(pace, 1e-6))
        count = max(1, min(int(length * TASK_TRIALS), self._remaining(test), fitting))
        test.next += count
        return self._range(range(test.next - count, test.next))

    def _range(self, positions: range) -> range:
        """Return the indices of the trials at these `positions` of this shard."""
        return range(self._plan.index(positions.start), self._plan.index(positions.stop), self._plan.shard[1])

    def _has_more(self, test: TestProgress) -> bool:
        return not test.over and bool(test.returned or self._remaining(test) > 0)

    def _remaining(self, test: TestProgress) -> int:
        return sys.maxsize if self._plan.trials is None else self._shard_size(self._plan.trials) - test.next

    def _shard_size(self, trials: int) -> int:
        """Return how many of the first `trials` indices belong to this shard."""
        return len(range(self._plan.shard[0] - 1, trials, self._plan.shard[1]))

    # -- results ----------------------------------------------------------------------------------------

    def ended(self, task: Explore) -> None:
        """Take note that no worker runs `task` any more."""
        self._scheduler.ended(self.test_of(task).where)

    def take(self, task: Explore, result: Explored) -> TestProgress:
        """Add the `result` of `task` to the progress of its test, and return that."""
        test = self.test_of(task)
        test.add(result)
        self._gaps.take(test, result.covered)
        test.idle = test.idle + result.done if 0 < result.done == result.avoided.total() else 0
        # With a number of trials, all of them are run: which ones had run by now would depend on the workers.
        if test.idle >= IDLE_TRIALS and self._plan.trials is None:
            test.set_aside = "all it does was set aside"
        if result.done < len(task.indices):
            self.requeue(task, task.indices[result.done :])
        if task.until_refused and result.last_refused:
            self._end(test)
        return test

    def _end(self, test: TestProgress) -> None:
        """Run no more trials of `test`, and note which are left of the plan's number."""
        last = test.next + self._remaining(test)
        test.unrun += [*test.returned, self._range(range(test.next, last))]
        test.returned, test.next = [], last

    def requeue(self, task: Explore, indices: range) -> None:
        """Queue those trials of `task` again that did not run, under the base seed that they had.

        The trials of a broken test wait until the campaign is resumed, which runs pinned trials in any case.
        """
        test = self.test_of(task)
        if task.where == test.where:
            test.returned.append(indices)
        elif not (test.broken or test.skips):
            self._pinned.again(task.where, indices)
