"""Numbers reach their bounds, choices occur in all triples, and arrays have rare features."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from generators import Schedule, Source, explored_array, oneof, random, random_bool, using
from generators.levels import BLOCK
from generators.plan import has_ordinary_numbers, row
from generators.source import TRIAL_BITS
from tests.support.drawing import trials

TESTS = range(3)


@pytest.mark.parametrize("test", TESTS)
def test_each_of_a_few_whole_numbers_comes_beside_each_choice(test: int) -> None:
    drawn = trials(lambda: (random(-3, 3).value(), random_bool().value()), test)
    assert {*drawn[1:]} == {*itertools.product(range(-3, 3), (False, True))}  # the first is drawn at random


@pytest.mark.parametrize("test", TESTS)
def test_of_many_whole_numbers_the_ends_and_zero_come(test: int) -> None:
    drawn = trials(lambda: random(-9, 13).value(), test)
    assert {-9, 0, 12} <= {*drawn}
    assert len({*drawn}) > 8
    assert {1, 30} <= {*trials(lambda: random(1, 31).draw(int | tuple[int, int]), test)}


def test_of_thousands_of_whole_numbers_none_is_preferred() -> None:
    """Such numbers should differ, as seeds do."""
    assert len({*trials(lambda: random(0, 1 << 30).value())}) == BLOCK


def test_a_whole_number_that_the_plan_chose_is_replayed_from_its_log() -> None:
    draw = random(2, 6)
    with using(Source(5 << TRIAL_BITS | 7)) as source:
        drawn = draw.value()
    assert [(choice.kind, choice.low, choice.high) for choice in source.choices] == [("integer", 2, 6)]
    with using(Source(0, source.choices)):
        assert draw.eval() == drawn
    with using(Source(5 << TRIAL_BITS | 7, [("integer", 4, 2, 6)])):
        assert draw.eval() == 4


@pytest.mark.parametrize("test", TESTS)
def test_a_fraction_is_its_least_or_one_that_factors_are_compared_with_in_some_trials(test: int) -> None:
    drawn = trials(lambda: random(-1.5, 1.5).to(float).value(), test)
    assert {-1.5, 0.0, 1.0, 0.5} <= {*drawn}
    assert sum(value not in (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0) for value in drawn) >= BLOCK / 2
    assert all(-1.5 <= value < 1.5 for value in drawn)
    assert 1.0 not in trials(lambda: random(0.0, 1.0).value(), test)


@pytest.mark.parametrize("counts", [(4, 2, 2), (2, 2, 2, 2)])
def test_every_three_choices_come_in_all_their_combinations(counts: tuple[int, ...]) -> None:
    drawn = trials(lambda: [oneof(*range(count)).value() for count in counts])[1:]
    for chosen in itertools.combinations(range(len(counts)), 3):
        came = {tuple(choices[at] for at in chosen) for choices in drawn}
        assert len(came) == np.prod([counts[at] for at in chosen])


def test_a_combination_whose_trial_was_refused_for_something_else_comes_again() -> None:
    schedule, accepted = Schedule(400), []
    for index in schedule:
        with using(Source(index << TRIAL_BITS | 7)) as source:
            chosen = tuple(random_bool().value() for _ in range(3))
            dtype = explored_array(1).dtype
        refused = dtype == "float64"
        schedule.record(index, source.features, refused=refused)
        accepted += [] if refused else [chosen]
        if len(accepted) == BLOCK:
            break
    assert len({*accepted}) == 8


def test_each_of_three_alternatives_meets_numbers_that_are_not_finite() -> None:
    chosen = trials(lambda: oneof(0, 1, 2).value())
    special = [index for index in range(BLOCK) if row(index).level("values") in ("nan", "infinite")]
    assert {chosen[index] for index in special} == {0, 1, 2}


@pytest.mark.parametrize("choices", range(1, 5))
def test_the_ends_of_each_range_come_with_ordinary_numbers(choices: int) -> None:
    drawn = trials(lambda: [random(0, 10).to(int).value() for _ in range(choices)])[1:]
    ordinary = [numbers for index, numbers in enumerate(drawn, start=1) if has_ordinary_numbers(index)]
    for position in range(choices):
        assert {0, 9} <= {numbers[position] for numbers in ordinary}


@pytest.mark.parametrize("test", TESTS)
def test_a_dimension_without_bounds_is_past_each_tile_of_a_product(test: int) -> None:
    def draw() -> int:
        return explored_array(2, dims=[None, random()]).data.shape[1]

    drawn = {size for shift in range(3) for size in trials(draw, test + 10 * shift)}
    assert {17, 33, 65} <= drawn
    assert max(drawn) > 128
    assert sum(size < 18 for size in trials(draw, test)) > 12
    assert all(1 <= size <= 5 for size in trials(draw, test)[:2])
    assert 1 in trials(draw, test)
    assert max(trials(lambda: random().to(int).value(), test)) < 18


def test_positions_are_many_where_what_they_point_at_is_given() -> None:
    def draw() -> Any:
        explored_array(2, dims=[5, 3])
        return explored_array(2, dims=[None, 3], dtype="int64", low=0, high=5).data

    assert sum(positions.size > 1000 for positions in trials(draw)) >= 2


@pytest.mark.parametrize("test", TESTS)
def test_nan_is_past_a_block_and_elsewhere_in_some_trial_and_fills_a_row_in_another(test: int) -> None:
    drawn = [np.isnan(array.data) for array in trials(lambda: explored_array(2, dtype="float32"), test)]
    assert any(found.sum() == 2 and found[-1, -1] and found.shape[1] > 16 for found in drawn)
    assert any(found.all(axis=1).any() and not found.all() and found.shape[1] > 1 for found in drawn)


@pytest.mark.parametrize("test", TESTS)
def test_single_precision_has_a_row_of_infinities_and_nan_on_either_side_alone(test: int) -> None:
    pairs = [
        (one.data, other.data)
        for one, other in trials(lambda: (explored_array(2), explored_array(2)), test)
        if one.data.dtype == other.data.dtype == np.float32 and one.data.shape == other.data.shape
    ]
    assert any((one == np.inf).all(axis=1).any() for one, _ in pairs)
    for first, second in ((True, True), (True, False), (False, True)):
        assert any(((np.isnan(one) == first) & (np.isnan(other) == second)).any() for one, other in pairs)


@pytest.mark.parametrize("test", TESTS)
def test_single_precision_has_long_rows_many_rows_and_both(test: int) -> None:
    shapes = [one.data.shape for one in trials(lambda: explored_array(2), test) if one.data.dtype == np.float32]
    for rows, columns in ((1, 2000), (1000, 1), (60, 60)):
        assert any(shape[0] >= rows and shape[1] >= columns for shape in shapes)


@pytest.mark.parametrize("test", TESTS)
def test_whole_numbers_between_eights_are_all_there(test: int) -> None:
    drawn = trials(lambda: explored_array(2, dims=[5, 5], dtype="float32").data, test)
    assert any({*range(-8, 9)} <= {*array.reshape(-1)} for array in drawn)


@pytest.mark.parametrize(("one", "two"), [("int64", "float32"), ("float32", "float64"), ("float32", "int64")])
def test_arrays_of_two_dtypes_have_numbers_in_common_and_others_next_to_them(one: str, two: str) -> None:
    pairs = trials(lambda: (explored_array(2, dtype=one).data, explored_array(2, dtype=two).data))
    alike = [pair for pair in pairs if pair[0].shape == pair[1].shape]
    assert sum(bool((first == second).any()) for first, second in alike) >= 2
    near = (1e-6, 1) if "int64" in (one, two) else (1e-6, 0)
    assert any(
        ((first != second) & np.isclose(first.astype("float64"), second.astype("float64"), *near)).any()
        for first, second in alike
    )


def test_numbers_of_another_dtype_stay_within_bounds_and_within_the_dtype() -> None:
    def draw() -> Any:
        explored_array(1, dtype="int64")
        return explored_array(1, dtype="float32", low=-2, high=3).data

    def places() -> Any:
        explored_array(2, dtype="float32")
        return explored_array(2, dtype="int64", high=4).data

    assert all(((array >= -2) & (array < 3)).all() for array in trials(draw))
    assert all(((array >= 0) & (array < 4)).all() for array in trials(places))  # as if both bounds were given
    with np.errstate(all="raise"):
        trials(
            lambda: (
                explored_array(1, dtype="float64"),
                explored_array(1, dtype="int8"),
                explored_array(1, dtype="uint8"),
            )
        )


def test_a_fraction_does_not_depend_on_earlier_draws_from_the_same_bounds_as_ints() -> None:
    trials(lambda: random(2, 11).to(float).value())  # some of these are whole numbers
    assert not {float(whole) for whole in range(3, 11)} & {*trials(lambda: random(2.0, 11.0).value())}


def test_two_arrays_of_one_shape_have_the_same_strides_without_gaps() -> None:
    """An operator may then treat them like arrays of one dimension."""
    pairs = trials(lambda: [explored_array(3) for _ in range(2)])
    assert any(one.layout == two.layout == "transposed" and one.data.shape == two.data.shape for one, two in pairs)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("end", [4, 5, 6, 9])
def test_sizes_that_a_test_draws_do_not_hide_the_layouts(end: int, test: int) -> None:
    """Memory that is transposed or expanded along a dimension of size 1 is contiguous."""
    drawn = trials(lambda: explored_array(2, [random(1, end), random(1, end)]), test)
    wide = [one.layout for one in drawn if min(one.data.shape) > 1]
    assert wide.count("transposed") >= 2
    assert wide.count("expanded") >= 2
    assert {1, 2, 3} <= {size for one in drawn for size in one.data.shape}


@pytest.mark.parametrize("test", TESTS)
def test_a_single_number_meets_an_array_of_ordinary_numbers(test: int) -> None:
    pairs = trials(lambda: [explored_array().data for _ in range(2)], test)
    assert any(one.ndim == 0 < two.ndim and np.count_nonzero(two) > 1 for one, two in pairs)
    assert any(not one.any() for one, _ in pairs)


@pytest.mark.parametrize("test", TESTS)
def test_open_sizes_are_equal_to_one_that_the_test_gives_in_some_plain_trial(test: int) -> None:
    assert (3, 3, 3) in [one.data.shape for one in trials(lambda: explored_array(3, [None, 3]), test)[:2]]
    assert any(len({*one.data.shape}) == 1 for one in trials(lambda: explored_array(2), test)[:2])
    assert max(max(one.data.shape) for one in trials(lambda: explored_array(2, [300]), test)[:2]) == 300
    assert all(min(one.data.shape) < 300 for one in trials(lambda: explored_array(2, [300]), test)[:2])
