"""Choices among choices take turns like others: flags and words that may be left out, combined with each other."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any, Literal

import pytest

from generators import nothing, oneof, random, random_bool
from generators.combinators import NOTHING
from tests.support.drawing import trials


def flag() -> Any:
    return random_bool() | nothing()


@pytest.mark.parametrize(
    "make",
    [flag, lambda: oneof("a", "b") | nothing(), lambda: random().to(Literal["a", "b"]) | nothing()],
    ids=["flag", "words", "literal"],
)
@pytest.mark.parametrize("test", range(3))
def test_all_pairs_of_three_arguments_that_may_be_left_out_come_within_twenty_trials(
    make: Callable[[], Any], test: int
) -> None:
    drawn = trials(lambda: [make().value() for _ in range(3)], test)
    for one, two in itertools.combinations(range(3), 2):
        assert len({(values[one], values[two]) for values in drawn}) == 9


def test_chances_stay_those_of_the_choices_one_after_the_other() -> None:
    chosen = oneof(1, 2, 3, possibility=[0.5, 0.25, 0.25]) | nothing()
    drawn = Counter(trials(chosen.value)[1:])
    # The alternatives count as four, of which `nothing()` is one.
    assert 4 <= drawn[NOTHING] <= 5
    assert 6 <= drawn[1] <= 8
    assert 3 <= drawn[2] <= 4


def test_a_value_that_was_drawn_before_is_kept_in_a_choice_of_choices() -> None:
    def draw() -> tuple[Any, Any]:
        size = random(1, 9)
        own = size.value()
        return own, (size | nothing() | nothing()).value()

    drawn = trials(draw)
    assert all(later in (own, NOTHING) for own, later in drawn)
    assert any(later is not NOTHING for _, later in drawn)


def test_a_choice_of_choices_keeps_its_value_throughout_a_trial() -> None:
    def draw() -> bool:
        inner = random(1, 4) | nothing()
        outer = inner | constant_of("x")
        value = outer.value()
        return bool(value == outer.value() and value in ("x", inner.value()))

    def constant_of(value: Any) -> Any:
        return oneof(value)

    assert all(trials(draw))


def test_more_values_than_trials_are_a_choice_among_the_alternatives() -> None:
    drawn = trials(lambda: oneof(oneof(*range(50)), nothing()).value())
    assert len({*drawn}) > 5
    assert NOTHING in drawn
