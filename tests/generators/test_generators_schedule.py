"""Refused trials give their features back: what fits to few others, and what was refused beside another reason."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from generators import Schedule, Source, current, explored_array, nothing, oneof, random, random_bool, using
from generators.annotations import describe
from generators.combinators import NOTHING
from generators.levels import BLOCK, LEVELS
from generators.source import TRIAL_BITS

Draw = Callable[[], Any]


class Checked(Schedule):
    """A schedule that checks the chances of pending trials that it remembers, and counts them."""

    remembered = 0

    def _next(self) -> int | None:
        known, other = dict(self._likely), (self._blames, self._features, self._combinations)
        self._blames, self._features, self._combinations = {}, {}, {}
        assert known == {index: self._chances(index) for index in known}
        self._blames, self._features, self._combinations = other
        self.remembered += len(known)
        return super()._next()


def accepted(draw: Draw, fits: Callable[[Any], bool], *, special_values: bool = True) -> tuple[list[Any], int]:
    """Return what the first twenty accepted trials of `draw` drew, and the number of trials that ran."""
    schedule, found, ran = Schedule(400), [], 0
    for index in schedule:
        ran += 1
        with using(Source(index << TRIAL_BITS | 7)) as source:
            source.special_values = special_values
            drawn = draw()
        schedule.record(index, source.features, refused=not fits(drawn))
        found += [drawn] if fits(drawn) else []
        if len(found) == BLOCK:
            break
    return found, ran


def divides(drawn: tuple[int, int, Any]) -> bool:
    channels, out, groups = drawn
    return groups is NOTHING or channels % groups == out % groups == 0


def test_numbers_of_groups_that_divide_few_numbers_of_channels_are_accepted() -> None:
    found, ran = accepted(lambda: (random(1, 6).value(), random(1, 6).value(), random(1, 4).value()), divides)
    assert any(groups > 1 for _, _, groups in found)
    assert ran < 3 * BLOCK


def test_so_are_those_of_an_optional_argument_after_other_optional_arguments() -> None:
    def draw() -> tuple[int, int, Any]:
        channels, out = random(1, 6).value(), random(1, 6).value()
        for _ in range(3):
            (random(1, 3) | nothing()).value()
        return channels, out, (random(1, 4) | nothing()).value()

    found, ran = accepted(draw, divides)
    assert any(groups is not NOTHING and groups > 1 for _, _, groups in found)
    assert ran < 3 * BLOCK


def drawn_shapes_and_numbers() -> tuple[Any, Any, str]:
    """Return the shapes of two arrays, and the level of the numbers of the first."""
    shapes = explored_array(2).data.shape, explored_array(2).data.shape
    return *shapes, LEVELS[0][current().features["values"]]


def test_numbers_that_come_only_beside_refused_shapes_come_again_with_equal_ones() -> None:
    """Most rows of the plan with wide numbers and ties have shapes that broadcast, which a loss refuses."""
    for special_values in (True, False):
        found, _ = accepted(drawn_shapes_and_numbers, lambda drawn: drawn[0] == drawn[1], special_values=special_values)
        assert {"wide", "ties"} <= {level for _, _, level in found}


def test_the_choices_of_an_argument_do_not_depend_on_the_optional_arguments_before_it() -> None:
    columns = set()
    for index in range(1, BLOCK):
        with using(Source(index << TRIAL_BITS | 7)) as source:
            (random(1, 4) | nothing()).value()
            oneof(random_bool(), oneof(1, random(1, 3)), 2).value()
            random_bool().value()
            columns.add(source.alternatives)
    assert len(columns) == 1


def test_trials_without_special_numbers_have_no_subnormal_ones_where_numbers_are_next_to_a_zero() -> None:
    def draw() -> list[np.ndarray[Any, Any]]:
        return [explored_array(shape=(40, 33)).data for _ in range(3)]

    found = [array for drawn in accepted(draw, lambda drawn: True, special_values=False)[0] for array in drawn]
    assert any((array == 0).any() for array in found)
    for array in found:
        magnitude = np.abs(array)
        assert not ((magnitude > 0) & (magnitude < np.finfo(array.dtype).tiny)).any()


def test_in_place_of_refused_trials_come_new_pairs_of_arguments_of_which_the_first_may_be_pairs_of_numbers() -> None:
    numbers = describe("_size_2_t")

    def draw() -> list[Any]:
        window, stride = random(1, 4), random(1, 4) | nothing()
        padding, *flags = random(0, 2) | nothing(), *(random_bool() | nothing() for _ in range(3))
        drawn = [one.draw(numbers) for one in (window, stride, padding)]
        # Which number of a pair counts for what is refused does not matter here.
        return [max(one) if type(one) is tuple else one for one in drawn] + [flag.value() for flag in flags]

    found, ran = accepted(draw, lambda drawn: drawn[2] is NOTHING or 2 * drawn[2] <= drawn[0])
    together = {(*one, *two) for drawn in found for one, two in itertools.combinations(enumerate(drawn[2:]), 2)}
    assert len(together) >= 48  # of 54
    assert ran < 1.5 * BLOCK


@pytest.mark.parametrize("every", [10, 20, 50])
def test_the_chances_that_are_remembered_are_those_that_would_be_computed_anew(every: int) -> None:
    """The body is refused for some groups, for shapes, and now and then for no reason. Later it makes more choices."""

    def draw() -> tuple[int, int, Any, Any, Any]:
        channels, out = random(1, 6).value(), random(1, 6).value()
        groups = oneof(random(1, 4), oneof(1, 2), nothing(), oneof(random_bool().map(int) + 1, 4)).value()
        return channels, out, groups, explored_array(2).data.shape, explored_array(2).data.shape

    schedule = Checked(150)
    for ran, index in enumerate(schedule):
        with using(Source(index << TRIAL_BITS | 7)) as source:
            source.special_values = False
            *numbers, one, other = draw()
            for _ in range(ran // 30):
                (random(1, 3) | nothing()).value()
        fits = divides((numbers[0], numbers[1], numbers[2])) and one[:1] == other[:1] and (ran + 1) % every
        schedule.record(index, source.features, refused=not fits)
    assert schedule.remembered
