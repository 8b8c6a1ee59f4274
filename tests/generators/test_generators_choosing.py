"""Alternatives take turns: each occurs within twenty trials, with every feature, and again after a refusal."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any, Literal

import pytest

from generators import Schedule, Source, explored_array, nothing, oneof, random, random_bool, using
from generators.combinators import NOTHING
from generators.levels import BLOCK, NAMES
from generators.plan import is_tall, row
from generators.source import TRIAL_BITS
from tests.support.drawing import trials


@pytest.mark.parametrize("test", range(3))
@pytest.mark.parametrize("count", [2, 3, 7, 12])
def test_each_alternative_comes_within_twenty_trials(count: int, test: int) -> None:
    came = Counter(trials(lambda: oneof(*range(count)).value(), test=test))
    assert set(came) == set(range(count))
    assert max(came.values()) - min(came.values()) <= 2  # the first trial draws at random


@pytest.mark.parametrize(
    "draw",
    [
        lambda: random_bool().value(),
        lambda: (random(1, 3) | nothing()).value() is NOTHING,
        lambda: random().draw(Literal["reflect", "zeros"]),
        lambda: isinstance(random(1, 9).draw(int | tuple[int, int]), int),
    ],
    ids=["bool", "nothing", "literal", "union"],
)
def test_whatever_has_two_alternatives_has_each_in_about_half_of_the_trials(draw: Callable[[], Any]) -> None:
    assert set(Counter(trials(draw)).values()) <= {9, 10, 11}


def test_every_two_choices_of_a_trial_come_in_all_their_combinations() -> None:
    drawn = trials(lambda: (random_bool().value(), oneof("a", "b", "c").value(), random_bool().value()))
    assert len({one[:2] for one in drawn}) == 6
    assert len({one[1:] for one in drawn}) == 6
    assert len({one[::2] for one in drawn}) == 4


@pytest.mark.parametrize("counts", [(5, 2), (5, 3), (4, 4), (3, 3, 2), (2, 2, 2, 2, 2)])
def test_every_two_of_many_choices_come_in_all_their_combinations(counts: tuple[int, ...]) -> None:
    drawn = trials(lambda: [oneof(*range(count)).value() for count in counts])[1:]  # the first is drawn at random
    for one, two in itertools.combinations(range(len(counts)), 2):
        assert len({(choices[one], choices[two]) for choices in drawn}) == counts[one] * counts[two]


@pytest.mark.parametrize(
    "draws",
    [
        lambda: [random(1, 3).draw(int | tuple[int, int]) for _ in range(4)],
        lambda: [(random(1, 3) | nothing()).draw(int) for _ in range(3)],
        lambda: [(random(1, 3) | nothing()).draw(int | tuple[int, int]) for _ in range(3)],
    ],
    ids=["a number or a pair", "a number or nothing", "a number, a pair or nothing"],
)
def test_numbers_come_in_all_combinations_whatever_form_they_have(draws: Callable[[], list[Any]]) -> None:
    drawn = [[one[0] if type(one) is tuple else one for one in choices] for choices in trials(draws)]
    values = [set(column) for column in zip(*drawn, strict=True)]
    for one, two in itertools.combinations(range(len(values)), 2):
        assert len({(choices[one], choices[two]) for choices in drawn}) == len(values[one]) * len(values[two])


def test_a_number_that_was_drawn_before_keeps_its_value_as_an_alternative() -> None:
    def drawn() -> tuple[int, Any]:
        number = random(1, 9)
        return number.value(), (number | nothing()).value()

    found = trials(drawn)
    assert all(one in (number, NOTHING) for number, one in found)
    assert {one is NOTHING for _, one in found} == {True, False}


def test_a_number_that_is_drawn_as_an_alternative_keeps_its_value() -> None:
    def drawn() -> tuple[Any, int]:
        number = random(1, 9)
        return (number | nothing()).value(), number.value()

    found = trials(drawn)
    assert all(one in (number, NOTHING) for one, number in found)
    assert {one is NOTHING for one, _ in found} == {True, False}


def test_the_simplest_alternative_is_the_number_nearest_to_zero() -> None:
    with using(Source(13 << TRIAL_BITS | 7, then="simplest")):
        assert (random(-3, 4) | nothing()).value() == 0


def test_an_alternative_comes_beside_nearly_every_feature() -> None:
    drawn = trials(lambda: random_bool().value())
    # A feature of one trial only, or of the first trial, which draws at random, cannot occur with both alternatives.
    levels = Counter((name, row(index).level(name)) for index in range(1, BLOCK) for name in NAMES)
    often = {level for level, times in levels.items() if times > 1}
    pairs = {((name, row(index).level(name)), drawn[index]) for index in range(BLOCK) for name in NAMES}
    both = {level for level in often if {(level, False), (level, True)} <= pairs}
    assert len(both) >= 0.9 * len(often)


@pytest.mark.parametrize("test", range(3))
def test_a_flag_is_true_and_false_beside_a_tall_matrix(test: int) -> None:
    def drawn() -> tuple[bool, bool]:
        rows, columns = explored_array(2).data.shape
        return random_bool().value(), rows > columns + 1

    came = trials(drawn, test=test)
    assert {flag for index, (flag, _) in enumerate(came) if is_tall(index)} == {False, True}
    assert all(tall for index, (_, tall) in enumerate(came) if is_tall(index))


def test_contents_out_of_several_are_each_drawn_in_every_layout() -> None:
    def drawn() -> tuple[str, str]:
        contents = oneof("uniform", "ties")
        layout = explored_array(2, contents=contents).layout
        return contents.value(), layout

    assert len({*trials(drawn), *trials(drawn, start=BLOCK)}) == 12


def test_chances_that_a_test_gives_are_kept() -> None:
    assert Counter(trials(lambda: oneof(0, 1, possibility=0.75).value(), start=BLOCK)) == {0: 15, 1: 5}
    assert Counter(trials(lambda: oneof(0, 1, 2, possibility=[0.0, 0.5, 0.5]).value(), start=BLOCK)) == {1: 10, 2: 10}
    rare = [trials(lambda: oneof(0, 1, possibility=0.99).value(), start=block * BLOCK) for block in range(20)]
    assert 0 < sum(map(sum, rare)) < 20


def test_more_alternatives_than_trials_are_drawn_at_random() -> None:
    assert len(set(trials(lambda: oneof(*range(50)).value()))) > 10


def test_a_loop_draws_on_and_on() -> None:
    assert all(len(set(one)) == 2 for one in trials(lambda: [random_bool().value() for _ in range(40)]))


def test_a_choice_is_replayed_from_its_log_and_is_the_first_without_one() -> None:
    with using(Source(13 << TRIAL_BITS | 7)) as source:
        first = [oneof(*"abcd").value() for _ in range(4)]
    with using(Source(1, source.choices)):
        assert [oneof(*"abcd").value() for _ in range(4)] == first
    with using(Source(13 << TRIAL_BITS | 7, then="simplest")):
        assert [oneof(*"abcd").value() for _ in range(4)] == ["a"] * 4


def test_a_filter_on_a_choice_is_offered_others() -> None:
    assert set(trials(lambda: oneof(*"abc").filter(lambda one: one == "c").value())) == {"c"}


def test_an_alternative_that_was_refused_is_given_back() -> None:
    """An alternative that is accepted only together with another one still occurs, within few trials."""
    schedule, accepted, ran = Schedule(400), [], 0
    for index in schedule:
        ran += 1
        with using(Source(index << TRIAL_BITS | 7)) as source:
            mode, padded = oneof("zeros", "reflect").value(), random_bool().value()
        refused = mode == "reflect" and not padded
        schedule.record(index, source.features, refused=refused)
        accepted += [] if refused else [mode]
        if len(accepted) == BLOCK:
            break
    assert ran < 1.5 * BLOCK
    assert Counter(accepted)["reflect"] >= 4


def test_a_chance_of_nine_in_ten_has_eighteen_of_twenty_trials() -> None:
    for block in (1, 2):
        drawn = []
        for index in range(block * BLOCK, (block + 1) * BLOCK):
            with using(Source(index << TRIAL_BITS | 7)):
                drawn.append(oneof(1, 2, possibility=0.9).value())
        assert drawn.count(1) == 18
