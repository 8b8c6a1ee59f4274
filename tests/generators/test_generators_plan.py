"""The plan of features: what every twenty trials have, what goes first, and what becomes of what is refused."""

from __future__ import annotations

import itertools

import pytest

from generators import GeneratorError, Schedule, Source, explored_array, using
from generators.plan import BLOCK, FACTORS, LEVELS, NAMES, row
from generators.source import TRIAL_BITS


@pytest.mark.parametrize("block", range(15))
def test_every_level_has_its_turns_in_every_twenty_trials(block: int) -> None:
    rows = [row(block * BLOCK + place) for place in range(BLOCK)]
    for factor, levels in FACTORS.items():
        for level, times in levels.items():
            assert sum(one.level(factor) == level for one in rows) == times


def test_the_first_trials_are_plain() -> None:
    assert set(row(0)) == {0}
    oddness = [sum(map(bool, row(index))) for index in range(BLOCK)]
    assert oddness == sorted(oddness)


def test_pairs_that_no_trial_had_go_before_others() -> None:
    def covered(trials: int) -> int:
        return len(
            {
                (one, row(index)[one], two, row(index)[two])
                for index in range(trials)
                for one, two in itertools.combinations(range(len(NAMES)), 2)
            }
        )

    every = sum(len(one) * len(two) for one, two in itertools.combinations(LEVELS, 2))
    assert covered(BLOCK) > 0.4 * every
    assert covered(6 * BLOCK) > 0.75 * every


def test_ordinary_numbers_lie_in_memory_in_every_way_within_twenty_trials() -> None:
    ordinary = {"unit", "signed", "wide", "whole", "ties"}
    lying = {one.level("layout") for index in range(BLOCK) if (one := row(index)).level("values") in ordinary}
    assert lying == set(FACTORS["layout"])


def test_a_trial_has_an_index_that_is_not_negative() -> None:
    with pytest.raises(GeneratorError, match="expected the index of a trial"):
        row(-1)


def test_a_trial_is_the_same_by_its_seed_alone() -> None:
    def drawn(index: int) -> object:
        with using(Source(index << TRIAL_BITS | 5)) as source:
            return explored_array().data.tobytes(), source.choices

    assert [drawn(index) for index in range(30)] == [drawn(index) for index in range(30)]


def test_what_was_drawn_is_drawn_again_from_its_choices_and_is_plain_without_them() -> None:
    with using(Source(19 << TRIAL_BITS)) as source:
        first = explored_array()
    with using(Source(0, source.choices)):
        again = explored_array()
    assert (first.data.tobytes(), first.layout) == (again.data.tobytes(), again.layout)
    with using(Source(19 << TRIAL_BITS, then="simplest")) as plain:
        assert explored_array().layout == "contiguous"
    assert set(plain.features.values()) == {0}


def run(refuses: object, needed: int = BLOCK) -> tuple[list[int], list[int]]:
    """The trials that were run and those that were accepted."""
    schedule = Schedule(needed * 20)
    ran, accepted = [], []
    for index in schedule:
        features = {"values": row(index).values, "layout": row(index).layout, "dtype": row(index).dtype}
        refused = bool(refuses(row(index)))  # type: ignore[operator]
        schedule.tell(index, features, refused=refused)
        ran.append(index)
        if not refused:
            accepted.append(index)
        if len(accepted) == needed:
            break
    return ran, accepted


def test_trials_come_in_order_while_nothing_is_refused() -> None:
    assert run(lambda one: False)[0] == [*range(BLOCK)]


def test_a_feature_that_is_always_refused_is_soon_left_alone() -> None:
    ran, accepted = run(lambda one: one.level("dtype") == "double")
    assert len(accepted) == BLOCK
    assert len(ran) - len(accepted) <= 4


def test_what_was_refused_beside_it_is_tried_again() -> None:
    _, accepted = run(lambda one: one.level("dtype") == "double")
    rows = [row(index) for index in accepted]
    for factor in ("values", "layout"):
        assert {one.level(factor) for one in rows} == set(FACTORS[factor])


def test_a_test_of_which_nearly_all_is_refused_has_its_trials_all_the_same() -> None:
    ran, accepted = run(lambda one: one.level("values") != "unit")
    assert len(accepted) == BLOCK
    assert len(ran) < 100


def test_no_trial_is_run_twice() -> None:
    ran, _ = run(lambda one: one.level("values") not in ("nan", "huge"))
    assert len(set(ran)) == len(ran)
