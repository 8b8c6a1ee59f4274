"""Which numbers of two arrays meet within twenty trials, and how long arrays end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from generators import Drawn, explored_array, random
from generators.plan import has_ordinary_numbers
from generators.source import current
from tests.generators.test_generators_open_arrays import trials

NAN, INF = math.nan, math.inf


def _is(values: np.ndarray, number: float) -> np.ndarray:
    return np.isnan(values) if math.isnan(number) else values == number


@pytest.mark.parametrize("test", [1, 2, 3])
@pytest.mark.parametrize(
    ("one", "two"),
    [
        (NAN, NAN),
        (NAN, 0.0),
        (NAN, INF),
        (0.0, NAN),
        (INF, NAN),
        (INF, INF),
        (-INF, INF),
        (INF, 0.0),
        (0.0, INF),
        (1.0, INF),
        (-1.0, INF),
    ],
)
def test_special_numbers_of_two_arrays_meet(one: float, two: float, test: int) -> None:
    drawn = trials(lambda: (explored_array(shape=(4, 6)), explored_array(shape=(4, 6))), test)
    assert any((_is(x.data, one) & _is(y.data, two)).any() for x, y in drawn)


@pytest.mark.parametrize("test", [1, 2, 3])
def test_special_numbers_meet_ordinary_ones(test: int) -> None:
    drawn = trials(lambda: (explored_array(shape=(4, 6)), explored_array(shape=(4, 6))), test)
    for special in (NAN, INF, -INF):
        for way in (1, -1):
            pairs = [pair[::way] for pair in drawn]
            assert any((_is(x.data, special) & np.isfinite(y.data)).any() for x, y in pairs)


@pytest.mark.parametrize("test", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("ndim", [1, 2])
def test_infinities_of_arrays_of_open_sizes_meet(ndim: int, test: int) -> None:
    drawn = [(x.data, y.data) for x, y in trials(lambda: (explored_array(ndim), explored_array(ndim)), test)]
    infinite = [(x, y) for x, y in drawn if x.shape == y.shape and np.isinf(x).any()]
    for met in (INF, 0.0):
        assert any(((x == INF) & (y == met)).any() for x, y in infinite)
    assert any(((x == INF) & np.isfinite(y)).any() for x, y in infinite)


def test_a_row_is_minus_infinity_in_all_of_its_elements() -> None:
    assert any((one.data == -INF).all(axis=-1).any() for one in trials(lambda: explored_array(shape=(3, 4))))


@pytest.mark.parametrize("test", [1, 2, 3])
@pytest.mark.parametrize("rank", [2, 3])
def test_a_row_is_infinity_in_all_of_its_elements(rank: int, test: int) -> None:
    drawn = [one.data for one in trials(lambda: explored_array(rank), test)]
    assert any(one.size > len(one) and (one == INF).all(axis=-1).any() for one in drawn)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
@pytest.mark.parametrize("rank", [2, 3])
def test_rows_of_whole_numbers_are_the_greatest_or_the_least_in_all_of_their_elements(rank: int, dtype: str) -> None:
    drawn = [one.data for one in trials(lambda: explored_array(rank, dtype=dtype))]
    for extreme in (np.iinfo(dtype).max, np.iinfo(dtype).min):
        assert any(one.size > len(one) and (one == extreme).all(axis=-1).any() and np.ptp(one) for one in drawn)


@pytest.mark.parametrize("test", [1, 2, 3])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_numbers_are_great_and_not_the_greatest(rank: int, test: int) -> None:
    drawn = np.concatenate([abs(one.data).reshape(-1) for one in trials(lambda: explored_array(rank), test)])
    for least, greatest in ((1e4, 1e6), (1e6, 2.0**31), (2.0**31, 1e12)):
        assert ((drawn > least) & (drawn < greatest)).any()


def test_a_small_array_is_zero_in_all_of_its_elements() -> None:
    assert any(one.data.size > 1 and not one.data.any() for one in trials(lambda: explored_array(1)))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_large_array_leaves_nothing_over_after_blocks(rank: int) -> None:
    sizes = [one.data.size for one in trials(lambda: explored_array(rank))]
    assert any(size > 1000 and size % 256 == 0 for size in sizes)
    assert any(size > 1000 and size % 8 for size in sizes)


def test_rows_are_whole_blocks_too() -> None:
    shapes = {one.data.shape for one in trials(lambda: explored_array(2))}
    lengths = {columns for _, columns in shapes}
    assert {8, 17, 32} <= lengths
    assert {9, 33} <= {rows for rows, _ in shapes}
    assert any(rows >= 2 * columns > 2 for rows, columns in shapes)


@pytest.mark.parametrize("test", [1, 2, 3])
@pytest.mark.parametrize("rank", [1, 2])
def test_several_elements_remain_after_the_blocks_of_a_row(rank: int, test: int) -> None:
    rows = {one.data.shape[-1] for one in trials(lambda: explored_array(rank), test)}
    assert any(size % 8 == 7 for size in rows if size > 1000)
    assert any(size % 4 == 2 for size in rows if size > 60)


@pytest.mark.parametrize("test", range(5))
def test_a_long_vector_has_its_greatest_number_at_the_end_and_its_least(test: int) -> None:
    vectors = [one.data for one in trials(lambda: explored_array(1), test) if one.data.size > 2000]
    assert vectors
    for vector in vectors:
        assert {vector.argmax(), vector.argmin()} == {vector.size - 1, vector.size - 2}


@pytest.mark.parametrize("test", [1, 2, 3])
@pytest.mark.parametrize("rank", [2, 3, 4])
def test_rows_lie_apart_in_the_first_array_and_in_the_second(rank: int, test: int) -> None:
    drawn = trials(lambda: (explored_array(rank), explored_array(rank)), test)
    for place in range(2):
        assert any(pair[place].layout == "pitched" and pair[place].data.shape[-2] > 1 for pair in drawn)


@pytest.mark.parametrize("test", [1, 2, 3])
@pytest.mark.parametrize("rank", [3, 4])
def test_matrices_lie_apart(rank: int, test: int) -> None:
    drawn = trials(lambda: explored_array(rank), test)
    assert any(one.layout == "sliced" and min(one.data.shape[0], one.data[0].size) > 1 for one in drawn)
    second = [two for _, two in trials(lambda: (explored_array(rank), explored_array(rank)), test)]
    assert any(two.layout == "sliced" and min(two.data.shape[0], two.data[0].size) > 1 for two in second)


@pytest.mark.parametrize("test", [1, 2, 3])
def test_channels_are_longer_than_blocks_and_so_are_images(test: int) -> None:
    shapes = [one.data.shape for one in trials(lambda: explored_array(4), test)]
    for axis in (1, 2):
        assert any(shape[axis] > 16 and shape[axis] % 8 for shape in shapes)
    assert any(one.data.shape[1] > 32 for one in trials(lambda: explored_array(3), test))


@pytest.mark.parametrize("test", [1, 2, 3])
def test_great_numbers_of_two_arrays_overflow_together(test: int) -> None:
    drawn = trials(lambda: (explored_array(2).data, explored_array(2).data), test)
    with np.errstate(all="ignore"):
        for combine in (np.add, np.subtract):
            assert any((np.isinf(combine(x, y)) & np.isfinite(x) & np.isfinite(y)).any() for x, y in drawn)


@pytest.mark.parametrize("test", [1, 2, 3])
def test_the_third_of_three_arrays_alone_is_a_column_or_a_row(test: int) -> None:
    shapes = [
        [one.data.shape for one in three] for three in trials(lambda: [explored_array(2) for _ in range(3)], test)
    ]
    alone = [(one, third) for one, two, third in shapes if one == two != third]
    assert any(third == (one[0], 1) for one, third in alone)
    assert any(third == (1, one[1]) for one, third in alone)


@pytest.mark.parametrize("test", [1, 2, 3])
@pytest.mark.parametrize("rank", [2, None])
def test_a_single_truth_value_meets_both(rank: int | None, test: int) -> None:
    drawn = trials(lambda: [explored_array(rank, dtype="bool").data for _ in range(2)], test)
    assert any(one.size == 1 < two.size and two.any() != two.all() for one, two in drawn)


@pytest.mark.parametrize("test", [1, 2, 3])
@pytest.mark.parametrize("rank", [2, 3])
def test_a_single_truth_value_before_others_is_true_and_false(rank: int, test: int) -> None:
    drawn = trials(lambda: [explored_array(rank, dtype="bool").data for _ in range(2)], test)
    assert {bool(one.all()) for one, two in drawn if one.size == 1 < two.size} == {False, True}


@pytest.mark.parametrize("test", [1, 2, 3])
def test_a_mask_of_a_single_truth_value_is_true(test: int) -> None:
    drawn = trials(lambda: (explored_array(2).data, explored_array(2, dtype="bool").data), test)
    assert any(mask.size == 1 < one.size and mask.all() for one, mask in drawn)


@pytest.mark.parametrize("test", [1, 2, 3])
def test_in_a_row_all_numbers_but_one_are_minus_infinity(test: int) -> None:
    drawn = [one.data for one in trials(lambda: explored_array(2), test)]
    assert any(((one == -INF).sum(axis=-1) == one.shape[-1] - 1).any() for one in drawn if one.shape[-1] > 2)


@pytest.mark.parametrize("test", [1, 2, 3])
@pytest.mark.parametrize("layout", ["transposed", "pitched"])
def test_the_second_of_two_arrays_of_one_shape_lies_otherwise(layout: str, test: int) -> None:
    drawn = trials(lambda: (explored_array(2), explored_array(2)), test)
    alike = [(one.layout, two.layout) for one, two in drawn if one.data.shape == two.data.shape]
    assert ("contiguous", layout) in alike


@pytest.mark.parametrize("test", [1, 2, 3])
def test_the_first_of_three_dimensions_lies_last_beside_ordinary_numbers(test: int) -> None:
    drawn = trials(lambda: explored_array(3), test)
    assert any(
        one.layout == "channels_last" and min(one.data.shape) > 1
        for index, one in enumerate(drawn)
        if has_ordinary_numbers(index)
    )


@pytest.mark.parametrize("rank", [2, 3, 4])
def test_rows_are_long_and_so_are_batches(rank: int) -> None:
    shapes = [one.data.shape for one in trials(lambda: explored_array(rank))]
    assert max(shape[0] for shape in shapes) > 500
    assert max(shape[-1] for shape in shapes) > 500


@pytest.mark.parametrize("axis", range(4))
def test_each_of_four_dimensions_is_the_one_that_broadcasts(axis: int) -> None:
    drawn = trials(lambda: (explored_array(4).data.shape, explored_array(4).data.shape))
    assert any(min(x[axis], y[axis]) == 1 < max(x[axis], y[axis]) for x, y in drawn)


def test_each_of_two_arrays_has_fewer_dimensions_and_none() -> None:
    ranks = trials(lambda: (explored_array().data.ndim, explored_array().data.ndim))
    assert any(0 < x < y for x, y in ranks)
    assert any(0 < y < x for x, y in ranks)
    assert any(0 == x < y for x, y in ranks)
    assert any(0 == y < x for x, y in ranks)


@pytest.mark.parametrize("ranks", [(1, 2), (4, 1), (3, 0), (0, 3)])
def test_arrays_of_open_rank_have_ranks_far_apart(ranks: tuple[int, int]) -> None:
    assert ranks in trials(lambda: (explored_array().data.ndim, explored_array().data.ndim))


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("last", [False, True])
def test_arrays_repeat_themselves_along_the_first_and_along_the_last_dimension(rank: int, last: bool) -> None:
    def repeats(drawn: Drawn) -> bool:
        moved = np.moveaxis(drawn.data, -1 if last else 0, 0)
        return drawn.layout == "expanded" and len(moved) > 1 and bool((moved == moved[:1]).all())

    assert any(repeats(one) for one in trials(lambda: explored_array(rank)))


@pytest.mark.parametrize("test", [1, 2, 3])
def test_what_is_ascending_has_numbers_of_another_array(test: int) -> None:
    drawn = trials(lambda: (explored_array(2).data, explored_array(1, contents="sorted").data), test)
    assert any(np.isin(two, one).sum() > 1 for one, two in drawn)
    assert all((np.diff(two) >= 0).all() for _, two in drawn)
    bounded = trials(lambda: (explored_array(2), explored_array(1, contents="sorted", low=0, high=1).data), test)
    assert all((two >= 0).all() and (two < 1).all() for _, two in bounded)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_a_sum_of_numbers_of_few_bits_outgrows_twice_as_many(dtype: str) -> None:
    bits = np.iinfo(dtype).bits
    sums = [abs(int(one.data.sum(dtype=np.int64))) for one in trials(lambda: explored_array(2, dtype=dtype))]
    assert max(sums) > 2 ** (2 * bits - 1 if bits == 8 else 24)


def test_the_second_and_the_third_of_three_arrays_broadcast_with_each_other() -> None:
    drawn = trials(lambda: [explored_array(2).data.size for _ in range(3)])
    assert any(two < three for _, two, three in drawn)
    assert any(three < two for _, two, three in drawn)


def test_the_third_of_three_arrays_alone_has_ones_in_some_trial() -> None:
    drawn = trials(lambda: [explored_array(2).data.shape for _ in range(3)])
    assert any(one == two != three and 1 in three for one, two, three in drawn)


@pytest.mark.parametrize("test", [1, 2, 3])
def test_long_rows_and_long_columns_have_their_extremes_at_the_end(test: int) -> None:
    drawn = [one.data for one in trials(lambda: explored_array(2), test)]
    for axis in (0, 1):
        long = [np.moveaxis(one, axis, -1) for one in drawn if one.shape[axis] > 500]
        ends = [(rows[:, -1:] > rows[:, :-1]).all(axis=1) | (rows[:, -1:] < rows[:, :-1]).all(axis=1) for rows in long]
        assert any(end.any() for end in ends)


def test_truth_values_of_long_rows_are_alike_but_for_the_last() -> None:
    long = [one.data for one in trials(lambda: explored_array(2, dtype=bool)) if one.data.shape[-1] > 8]
    assert any((~rows[:, :-1].any(axis=1) & rows[:, -1]).any() for rows in long)
    assert any((rows[:, :-1].all(axis=1) & ~rows[:, -1]).any() for rows in long)


def test_what_is_drawn_lies_in_one_piece() -> None:
    assert all(one.data.flags.c_contiguous for one in trials(lambda: explored_array(3, dtype=int)))
    assert all(one.data.flags.c_contiguous or one.layout == "expanded" for one in trials(lambda: explored_array(3)))


@pytest.mark.parametrize("test", range(5))
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_the_least_whole_number_is_never_divided_by_minus_one(dtype: str, test: int) -> None:
    drawn = trials(lambda: [explored_array(2, dtype=dtype).data for _ in range(3)], test)
    least = np.iinfo(dtype).min
    assert any((one == least).any() for arrays in drawn for one in arrays)
    assert any((one == -1).any() for arrays in drawn for one in arrays)
    for arrays in drawn:
        assert not (any((one == least).any() for one in arrays) and any((one == -1).any() for one in arrays))


@pytest.mark.parametrize("test", range(5))
def test_numbers_of_each_sign_are_far_from_one_even_where_they_are_few(test: int) -> None:
    drawn = trials(lambda: explored_array(2).data, test)
    ordinary = [one[np.isfinite(one) & (np.abs(one) < 1e5)] for one in drawn]
    assert any((one > 1e3).any() for one in ordinary)
    assert any((one < -1e3).any() for one in ordinary)


@pytest.mark.parametrize("test", range(5))
def test_neighbours_that_a_float_takes_for_equal_stand_in_descending_order(test: int) -> None:
    rows = trials(lambda: explored_array(2, dtype="int64").data, test)
    assert any(
        ((one[:, :-1] > one[:, 1:]) & (one[:, :-1].astype(float) == one[:, 1:].astype(float))).any() for one in rows
    )


@pytest.mark.parametrize("annotation", ["Number", "float"])
def test_a_number_is_zero_beside_infinities_in_some_trial(annotation: str) -> None:
    def draw() -> tuple[Any, float]:
        return explored_array(2).data, random().draw_in(current(), annotation)

    assert any(number == 0 and np.isinf(array).any() and np.isnan(array).any() for array, number in trials(draw))


@pytest.mark.filterwarnings("error")
def test_a_double_beyond_single_precision_makes_no_number_infinite() -> None:
    def double_and_singles() -> list[Drawn]:
        return [explored_array(shape=(4, 6), dtype=dtype) for dtype in ("float64", "float32", "float32")]

    drawn = [[one.data for one in arrays] for arrays in trials(double_and_singles, count=60)]
    beyond = [arrays for arrays in drawn if np.isfinite(arrays[0]).all() and (abs(arrays[0]) > 1e39).any()]
    assert beyond
    assert all(np.isfinite(one).all() for arrays in beyond for one in arrays)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("low", "high"), [(None, 2.0**31), (-1e6, None)])
def test_bounds_beyond_half_precision_are_no_mistake(low: float | None, high: float | None) -> None:
    def two() -> list[Drawn]:
        return [explored_array(2, dtype="float16", low=low, high=high) for _ in range(2)]

    for one in (one.data.astype(np.float64) for arrays in trials(two, count=60) for one in arrays):
        assert low is None or (one >= low).all()
        assert high is None or (one < high).all()
