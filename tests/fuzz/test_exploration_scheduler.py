"""Which test of a campaign runs next."""

from __future__ import annotations

from pathlib import Path

from autotest.campaigns.exploration_scheduler import MAX_UNREWARDED_TASKS, REWARD_FACTOR, ExplorationScheduler
from autotest.results.progress import TestProgress
from autotest.results.tasks import Where


def new(count: int) -> list[TestProgress]:
    return [TestProgress(Where(Path("test_x.py"), f"test_{number}", 0)) for number in range(count)]


def test_every_test_has_its_turn_before_one_has_two():
    turns = ExplorationScheduler(new(5), 0, lambda test: True)
    first = [turns.next().where.test for _ in range(5)]
    assert sorted(first) == [f"test_{number}" for number in range(5)]
    assert first != [f"test_{number}" for number in range(5)]  # an order different from that of the file
    assert [turns.next().where.test for _ in range(5)] == first


def test_the_one_that_had_least_time_comes_first_and_one_that_finds_something_gets_more():
    idle, finds = new(2)
    idle.unrewarded = MAX_UNREWARDED_TASKS
    turns = ExplorationScheduler([idle, finds], 0, lambda test: True)
    for _ in range(500):
        test = turns.next()
        test.seconds += 1.0
        turns.ended(test.where)
    assert abs(finds.seconds - REWARD_FACTOR * idle.seconds) <= REWARD_FACTOR


def test_what_has_nothing_left_is_passed_over_until_something_of_it_comes_back():
    one, other = new(2)
    other.broken = "yes"
    turns = ExplorationScheduler(
        [one, other], 0, lambda test: not test.broken and (bool(test.returned) or test.next < 1)
    )
    assert turns.next() is one
    one.next = 1
    assert turns.next() is None
    one.returned.append(range(1))
    turns.ended(one.where)
    assert turns.next() is one


def test_a_test_is_run_twice_at_once_only_when_all_others_are_being_run():
    small = new(3)
    small[0].seconds = 0.0
    small[1].seconds = small[2].seconds = 100.0
    turns = ExplorationScheduler(small, 0, lambda test: True)
    assert {turns.next().where.test for _ in range(3)} == {"test_0", "test_1", "test_2"}
    assert turns.next() is small[0]
