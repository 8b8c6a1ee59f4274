"""The `Source`: a seed gives the same choices, a log replays them, and a changed log still gives valid choices."""

from __future__ import annotations

import contextlib
import contextvars
import json
import threading

import pytest

from generators import BadBounds, Choice, GeneratorError, Source, current, explored_array, random, simplest, using
from generators.source import TRIAL_BITS


def choose(source: Source) -> list[object]:
    return [
        source.integer(-3, 4),
        source.uniform(-1.0, 2.5),
        source.boolean(),
        source.index(5),
        source.index(3, [0.0, 1.0, 2.0]),
        source.bits(),
    ]


def test_the_same_seed_makes_the_same_choices() -> None:
    assert choose(Source(11)) == choose(Source(11))
    assert choose(Source(11)) != choose(Source(12))


def test_choices_are_the_same_on_every_machine() -> None:
    source = Source(2023)
    assert [source.integer(0, 1000) for _ in range(6)] == [704, 369, 215, 445, 44, 119]
    assert source.uniform(0.0, 1.0) == float.fromhex("0x1.556f3560baadap-2")
    assert source.bits() == 11869817881314275060


def test_neighbouring_and_far_apart_seeds_do_not_resemble_each_other() -> None:
    firsts = [Source(seed).integer(0, 1000) for seed in [*range(200), *(seed << 64 for seed in range(1, 200))]]
    assert len(set(firsts)) > 300
    assert 430 < sum(firsts) / len(firsts) < 570


def test_the_log_survives_json_and_replays_every_choice_whatever_the_seed() -> None:
    first = Source(5)
    drawn = choose(first)
    log = json.loads(json.dumps(first.choices))
    again = Source(999, forced=log)
    assert choose(again) == drawn
    assert again.choices == first.choices


def test_choices_after_the_forced_ones_are_those_of_the_seed() -> None:
    whole = Source(5)
    drawn = choose(whole)
    changed = Source(5, forced=[Choice("integer", 0, -3, 4)])
    assert choose(changed)[1:] == drawn[1:]


def test_choices_after_many_forced_or_planned_ones_are_those_of_the_seed() -> None:
    source = Source(11)
    drawn = [source.bits() for _ in range(200)]
    forced, planned = Source(11, source.choices[:150]), Source(11)
    assert [forced.bits() for _ in range(200)] == drawn
    for _ in range(150):
        planned.planned(1, 2)
    assert [planned.bits() for _ in range(50)] == drawn[150:]


def test_choices_after_the_forced_ones_can_be_the_simplest() -> None:
    source = Source(5, forced=[Choice("integer", 2, 0, 9)], then="simplest")
    assert source.integer(0, 9) == 2
    assert choose(source) == [0, 0.0, False, 0, 1, 0]  # the first of three alternatives has no weight
    assert source.integer(4, 9) == 4
    assert source.integer(-9, -4) == -5
    assert source.uniform(0.5, 1.5) == 0.5


@pytest.mark.parametrize(
    ("forced", "expected"),
    [
        (Choice("integer", 99, 0, 100), 4),
        (Choice("integer", -99, -100, 0), 1),
        (Choice("index", 3, 0, 9), 1),
    ],
)
def test_a_forced_choice_that_does_not_fit_is_brought_into_its_bounds(forced: Choice, expected: int) -> None:
    assert Source(5, forced=[forced]).integer(1, 5) == expected


def test_a_forced_float_that_does_not_fit_stays_below_the_upper_bound() -> None:
    value = Source(5, forced=[Choice("uniform", 7.0, 0.0, 10.0)]).uniform(1.0, 2.0)
    assert 1.999 < value < 2.0
    assert Source(5, forced=[Choice("uniform", float("nan"), 0.0, 10.0)]).uniform(1.0, 2.0) == 1.0


def test_simplest_is_the_value_nearest_to_zero() -> None:
    assert simplest("integer", -5, 5) == 0
    assert simplest("integer", 3, 5) == 3
    assert simplest("uniform", -2.0, -1.0) == pytest.approx(-1.0)
    assert simplest("boolean", False, True) is False


def test_whole_numbers_are_uniform() -> None:
    source = Source(1)
    counts = [0] * 6
    for _ in range(6000):
        counts[source.integer(0, 6)] += 1
    assert all(900 < count < 1100 for count in counts)


def test_weights_are_kept_and_a_weight_of_zero_is_never_chosen() -> None:
    source = Source(1)
    counts = [0, 0, 0, 0]
    for _ in range(4000):
        counts[source.index(4, [1, 3, 0, 0])] += 1
    assert counts[2:] == [0, 0]
    assert 900 < counts[0] < 1100


def test_floats_fill_their_bounds_without_reaching_the_upper_one() -> None:
    source = Source(1)
    drawn = [source.uniform(-1.0, 3.0) for _ in range(2000)]
    assert all(-1.0 <= value < 3.0 for value in drawn)
    assert min(drawn) < -0.98
    assert max(drawn) > 2.98
    assert 0.9 < sum(drawn) / len(drawn) < 1.1


def test_bounds_that_are_far_apart_or_close_together_are_kept() -> None:
    source = Source(1)
    for _ in range(100):
        assert -1.7e308 <= source.uniform(-1.7e308, 1.7e308) < 1.7e308
        assert source.uniform(1.0, 1.0000000000000002) == 1.0
        assert -(2**63) <= source.integer(-(2**63), 2**63) < 2**63


@pytest.mark.parametrize("bounds", [(3, 3), (4, 3)])
def test_bounds_with_nothing_between_are_refused(bounds: tuple[int, int]) -> None:
    with pytest.raises(BadBounds, match="expected low < high, got low="):
        Source(1).integer(*bounds)


def test_bounds_and_weights_that_cannot_be_drawn_from_are_refused() -> None:
    with pytest.raises(BadBounds, match="finite"):
        Source(1).uniform(0.0, float("inf"))
    with pytest.raises(BadBounds, match="at least one alternative"):
        Source(1).index(0)
    with pytest.raises(BadBounds, match="positive weight"):
        Source(1).index(2, [0.0, 0.0])


@pytest.mark.parametrize("seed", [-1, 2**128, 1.5, "7"])
def test_a_seed_that_is_no_seed_is_refused(seed: object) -> None:
    with pytest.raises(GeneratorError, match=r"seed: expected a whole number from 0 to 2\*\*128 - 1"):
        Source(seed)  # type: ignore[arg-type]


def test_a_log_that_cannot_be_read_names_the_position() -> None:
    with pytest.raises(GeneratorError, match="at position 1"):
        Source(1, forced=[["integer", 1, 0, 5], ["integer", None, 0, 5]])
    with pytest.raises(GeneratorError, match="then="):
        Source(1, then="later")  # type: ignore[arg-type]


def test_using_restores_what_was_before_even_after_an_error() -> None:
    outer, inner = Source(1), Source(2)
    with using(outer):
        with contextlib.suppress(KeyError), using(inner):
            assert current() is inner
            raise KeyError
        assert current() is outer
    assert current() not in (outer, inner)


def test_outside_of_a_trial_values_are_drawn_from_one_source_that_starts_the_same_everywhere() -> None:
    def draw() -> tuple[object, int]:
        return random(0, 1000).value(), len(current().choices)

    first = contextvars.Context().run(draw)
    assert contextvars.Context().run(draw) == first
    assert first[1] == 1


def test_another_thread_does_not_draw_from_this_trial() -> None:
    seen: list[Source] = []
    with using(Source(1)) as source:
        thread = threading.Thread(target=lambda: seen.append(current()))
        thread.start()
        thread.join()
    assert seen[0] is not source


def test_an_alternative_without_weight_is_never_chosen_not_even_as_the_simplest():
    assert Source(0, [], then="simplest").index(3, (0, 0, 1)) == 2
    assert Source(0, [("index", 0, 0, 2)]).index(2, (0, 1)) == 1


def test_two_arrays_can_be_drawn_after_any_change_of_a_single_level() -> None:
    """A smaller example is found by such changes, also those that no trial of the plan has."""

    def choices(seed: int, forced: list[Choice]) -> list[Choice]:
        with using(Source(seed, forced)) as source:
            for _ in range(2):
                explored_array(dtype="float32")
        return source.choices

    for trial in range(20):
        seed = trial << TRIAL_BITS | 7
        drawn = choices(seed, [])
        for place, one in enumerate(drawn):
            for level in range(one.high) if one.kind == "index" else ():
                choices(seed, [*drawn[:place], one._replace(value=level), *drawn[place + 1 :]])
