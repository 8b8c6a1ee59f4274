"""Which trials are run again after a death, and what is reported about earlier trials that the death needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest.results.identity import Identity
from autotest.results.tasks import DiagnoseDeath, RanTrials, Where
from autotest.running.deaths.attempts import Attempt, attempts, last

HERE, OTHER = (Where(Path("test_x.py"), f"test_x.py::{name}", 0) for name in ("test_here", "test_other"))


def death(index: int, *before: RanTrials, back: int = 0) -> DiagnoseDeath:
    return DiagnoseDeath(HERE, index, Identity(*"abcdef"), "it dies", thorough=True, back=back, before=before)


def test_the_trial_alone_goes_first_and_then_those_before_it_in_its_test():
    tried = [(one.indices, one.times > 1, one.together) for one in attempts(death(9))]
    alone = range(9, 10)
    assert tried == [
        (alone, False, False),
        (alone, True, False),
        (range(4, 10), False, True),
        (range(10), False, True),
        (alone, True, False),
    ]


def test_what_the_worker_ran_before_is_run_again_where_it_is_of_another_test():
    ran = (RanTrials(OTHER, range(3)), RanTrials(HERE, range(9)))
    (one,) = [attempt for attempt in attempts(death(9, *ran)) if attempt.before]
    assert one == Attempt(range(9, 10), together=True, before=ran)
    assert not [attempt for attempt in attempts(death(9, RanTrials(HERE, range(9)))) if attempt.before]


def test_of_a_long_life_the_end_is_tried_first_and_then_more_of_it():
    ran = (RanTrials(OTHER, range(5000)), RanTrials(HERE, range(100)))
    tried = [attempt.before for attempt in attempts(death(100, *ran)) if attempt.before]
    assert [sum(len(part.indices) for part in before) for before in tried] == [300, 2000]
    assert tried[0] == (RanTrials(OTHER, range(4800, 5000)), RanTrials(HERE, range(100)))
    assert last(ran, 100) == ran[1:]
    assert last((), 5) == ()


@pytest.mark.parametrize(
    ("attempt", "index", "said"),
    [
        (Attempt(range(9, 10)), 9, ()),
        (Attempt(range(4, 10), together=True), 4, ()),
        (Attempt(range(4, 10), together=True), 5, ("only after 1 earlier trial in the same process",)),
        (
            Attempt(range(9, 10), together=True, before=(RanTrials(OTHER, range(3)), RanTrials(HERE, range(9)))),
            9,
            ("only after 12 earlier trials of 2 tests in the same process",),
        ),
    ],
)
def test_what_a_death_needs_before_it_is_said(attempt, index, said):
    assert attempt.only_after(index) == said
