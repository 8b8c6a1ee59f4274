"""A campaign with little time first runs trials that give operators what they have not had yet."""

from __future__ import annotations

import collections
from pathlib import Path

import pytest

from autotest.base.settings import Settings
from autotest.campaigns import exploring
from autotest.campaigns.campaign import Campaign, Plan, progress_of
from autotest.campaigns.coverage_gaps import ATTEMPTS, CoverageGaps, closes_gap, pop_trial
from autotest.campaigns.executor import NullObserver
from autotest.processes.client import Server
from autotest.report.campaign import summary
from autotest.results.coverage import FLOATING, TRIALS, gaps, merged
from autotest.results.progress import TestProgress
from autotest.results.tasks import Conditions, Explore, Explored, Where
from autotest.sources.collected import Collected
from autotest.sources.collection import Collection

GAPS = ("negative", "zero", "not finite", "past a block", "large", "not contiguous")


class OneAtATime:
    """Trials so slow that a task ends after one of them. Each gives relu the features of its row of the plan."""

    slots, diagnosis_slots = 1, 0

    def __init__(self, rules_out=(), enough=lambda covered: False):
        self.tried, self.covered = [], {}
        self._rules_out, self._enough = rules_out, enough

    def start(self, task):
        self._task = task

    def wait(self, seconds):
        index = self._task.indices[0]
        self.tried.append(index)
        features = {TRIALS: 1, FLOATING: 1, "positive": 1, "layout contiguous": 1}
        features |= {gap: 1 for gap in GAPS if closes_gap(index, gap) and gap not in self._rules_out}
        features |= {"layout strided": 1} if "not contiguous" in features else {}
        result = Explored(done=1, accepted=1, covered={"relu": features}, seconds=0.4)
        self.covered = merged([self.covered, result.covered])
        if self._enough(self.covered["relu"]):
            raise KeyboardInterrupt
        return [(self._task, result)]


def run(plan, executor):
    progress = progress_of(Collection([Collected("a", Path("t.py"), Settings(), print)]), 0)
    Campaign(progress, plan, executor, NullObserver()).run()
    return progress


def trials_until(enough, plan):
    executor = OneAtATime(enough=enough)
    run(plan, executor)
    return len(executor.tried)


@pytest.mark.parametrize("gap", ["large", "past a block", "zero"])
def test_a_gap_is_closed_sooner_where_time_is_short(gap):
    in_order = trials_until(lambda had: had.get(gap), Plan(0, trials=40))
    gone_for = trials_until(lambda had: had.get(gap), Plan(0))
    assert gone_for < in_order
    assert gone_for <= 1 + len(GAPS)


def test_all_gaps_are_closed_in_half_of_the_trials():
    def closed(had):
        return all(had.get("layout strided" if gap == "not contiguous" else gap) for gap in GAPS)

    assert 2 * trials_until(closed, Plan(0)) <= trials_until(closed, Plan(0, trials=40))


def test_what_a_test_rules_out_is_tried_a_few_times_and_no_trial_is_lost_or_run_twice():
    executor = OneAtATime(rules_out=GAPS, enough=lambda had: had[TRIALS] == 100)
    run(Plan(0), executor)
    ahead = [index for index, after in zip(executor.tried, executor.tried[1:], strict=False) if index > after]
    assert 0 < len(ahead) <= ATTEMPTS * len(GAPS)
    assert sorted(executor.tried) == [*range(100)]


def test_where_trials_are_counted_they_keep_their_order():
    executor = OneAtATime()
    run(Plan(0, trials=30), executor)
    assert executor.tried == [*range(30)]


def test_a_test_that_closes_a_gap_is_one_that_finds_something():
    test = TestProgress(Where(Path("t.py"), "a", 0), unrewarded=7)
    account = CoverageGaps({})
    account.take(test, {"relu": {TRIALS: 1, FLOATING: 1, "positive": 1}})
    assert test.unrewarded == 7
    account.take(test, {"relu": {TRIALS: 1, FLOATING: 1, "large": 1}})
    assert test.unrewarded == 0


@pytest.mark.parametrize("place", range(7))
def test_one_is_taken_out_of_those_that_wait(place):
    waiting = [range(3), range(10, 18, 2)]
    every = [index for part in waiting for index in part]
    assert [*pop_trial(waiting, place)] == [every[place]]
    assert collections.Counter(index for part in waiting for index in part) == collections.Counter(
        index for index in every if index != every[place]
    )


SUITE = """
from autotest import autotest, random_tensor, torch


@autotest(n=5)
def test_relu():
    return torch.relu(random_tensor(2, low=1, high=2))
"""


def test_trials_of_a_campaign_count_what_operators_are_given(tmp_path, against):
    against()
    (tmp_path / "test_it.py").write_text(SUITE)
    task = Explore(Where(tmp_path / "test_it.py", "test_it.py::test_relu", 0), range(20), 60.0, counted=True)
    result = exploring.run_task(task, Conditions(tmp_path / "kept"), None, Server())
    assert (result.done, result.covered["relu"][TRIALS]) == (20, 20)
    assert "never a negative value" in gaps(result.covered)["relu"]


def test_a_summary_ends_with_what_was_never_drawn():
    executor = OneAtATime(rules_out=["not finite"], enough=lambda had: had[TRIALS] == 60)
    assert "never drawn:\n  relu: never NaN or an infinity" in summary(run(Plan(0), executor))
