"""What a test leaves open takes all values within twenty trials. What it says is always respected."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from generators import (
    LAYOUTS,
    Drawn,
    GeneratorError,
    constant,
    explored_array,
    explored_shapes,
    oneof,
    random,
)
from generators.plan import has_ordinary_numbers, row, values_in
from tests.support.drawing import trials

TRIALS = 20


def numbers(drawn: list[Drawn]) -> np.ndarray[Any, Any]:
    return np.concatenate([one.data.reshape(-1).astype(np.float64) for one in drawn])


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("test", [1, 2, 3])
def test_numbers_of_every_kind_within_twenty_trials(test: int, ndim: int) -> None:
    drawn = trials(lambda: explored_array(ndim), test)
    every = numbers(drawn)
    finite = every[np.isfinite(every)]
    for kind in (
        np.isnan(every),
        every == math.inf,
        every == -math.inf,
        (finite == 0) & np.signbit(finite),
        (finite == 0) & ~np.signbit(finite),
        (abs(finite) > 0) & (abs(finite) < np.finfo(np.float32).tiny),
        (abs(finite) > 0.01) & (abs(finite) < 0.1),
        (finite < -1) & (finite > -4),
        abs(finite) > 100,
        abs(finite) > 1e38,
        finite == 1,
        finite == 0.5,
        (abs(finite - 1) > 0) & (abs(finite - 1) < 1e-5),
        (abs(finite + 1) > 0) & (abs(finite + 1) < 1e-5),
        (finite > 88) & (finite < 88.7),
        (finite < -88) & (finite > -88.7),
    ):
        assert kind.any()
    # Most trials have no special numbers.
    assert sum(not np.isfinite(one.data).all() for one in drawn) <= 6


@pytest.mark.parametrize("dtype", [None, "int64", "float16", "complex64"])
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_an_array_is_all_zeros_and_two_arrays_are_equal_within_twenty_trials(ndim: int, dtype: str | None) -> None:
    pairs = trials(lambda: [explored_array(ndim, dtype=dtype).data for _ in range(2)])
    assert 1 <= sum(not one.any() for one, _ in pairs) <= 3
    if dtype != "complex64":
        assert any(np.array_equal(one, other) and one.any() for one, other in pairs)


@pytest.mark.parametrize("shape", [(3,), (4,), (2, 3), (8,)])
@pytest.mark.parametrize("test", [1, 2, 3, 4, 5])
def test_a_zero_meets_an_ordinary_number_in_both_of_two_small_arrays(test: int, shape: tuple[int, ...]) -> None:
    pairs = trials(lambda: [explored_array(shape=shape).data for _ in range(2)], test)

    def meets(zeros: np.ndarray[Any, Any], others: np.ndarray[Any, Any]) -> bool:
        ordinary = (abs(others) > 1e-3) & (abs(others) < 1e4)
        return zeros.shape == others.shape and bool(((zeros == 0) & ordinary).any())

    assert any(meets(one, other) for one, other in pairs)
    assert any(meets(other, one) for one, other in pairs)


def test_sizes_and_layouts_of_every_kind_within_twenty_trials() -> None:
    drawn = trials(lambda: explored_array(2))
    sizes = {size for one in drawn for size in one.data.shape}
    assert {1, 2, 3, 4, 5, 6, 9} <= sizes
    assert sizes & {17, 33}
    assert any(one.data.size > 4096 for one in drawn)
    assert sum(one.data.size > 4096 for one in drawn) <= 4
    assert {one.layout for one in drawn} == {*LAYOUTS} - {"channels_last", "sliced"}


@pytest.mark.parametrize("test", [1, 2, 3])
def test_numbers_between_the_greatest_and_ordinary_ones_within_twenty_trials(test: int) -> None:
    finite = abs(numbers(trials(lambda: explored_array(2), test)))
    for least in (100, 1000):
        assert ((finite > least) & (finite < 10 * least)).any()


@pytest.mark.parametrize("ndim", [4, 5])
def test_channels_lie_last_in_some_trial(ndim: int) -> None:
    layouts = [one.layout for one in trials(lambda: explored_array(ndim))]
    assert {"transposed", "channels_last"} <= {*layouts}
    assert layouts.count("channels_last") <= 4  # most images of four dimensions are made so


@pytest.mark.parametrize("test", [1, 2, 3])
def test_channels_of_one_of_two_arrays_of_one_shape_lie_last(test: int) -> None:
    pairs = trials(lambda: (explored_array(4), explored_array(4)), test)
    found = {(one.layout, two.layout) for one, two in pairs if one.data.shape == two.data.shape}
    assert {("channels_last", "contiguous"), ("contiguous", "channels_last")} <= found


@pytest.mark.parametrize("test", [1, 2, 3])
@pytest.mark.parametrize("number", [1.0, -2.0])
def test_doubles_lie_beside_whole_numbers_where_single_precision_has_none(number: float, test: int) -> None:
    """A loop that takes doubles for floats rounds them up or down to the whole number."""
    drawn = [one.data for one in trials(lambda: explored_array(2 if number < 0 else 1), test) if one.dtype == "float64"]
    beside = np.nextafter(number, [-9.0, 9.0])
    assert {*beside.tolist()} <= {*np.concatenate([data.reshape(-1) for data in drawn]).tolist()}


@pytest.mark.parametrize("test", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_all_integers_of_an_array_are_positive_in_some_trial(dtype: str, test: int) -> None:
    drawn = [one.data for one in trials(lambda: explored_array(2, dtype=dtype), test)]
    assert any((data > 0).all() and data.size > 8 for data in drawn)


@pytest.mark.parametrize("test", [1, 2, 3])
def test_channels_of_several_images_of_ordinary_numbers_lie_last(test: int) -> None:
    drawn = trials(lambda: explored_array(4, dims=[None, 3]), test)
    assert any(
        one.layout == "channels_last" and one.dtype == "float32" and one.data.shape[0] > 1
        for index, one in enumerate(drawn)
        if has_ordinary_numbers(index)
    )


@pytest.mark.parametrize("layout", ["transposed", "expanded"])
def test_two_arrays_of_ordinary_numbers_have_one_layout(layout: str) -> None:
    drawn = trials(lambda: [explored_array(2, dims=dims).layout for dims in ([3, 4], [4, 5])])
    assert [layout, layout] in [layouts for index, layouts in enumerate(drawn) if has_ordinary_numbers(index)]


def test_channels_of_two_arrays_of_ordinary_numbers_lie_last() -> None:
    drawn = trials(lambda: [explored_array(4, dims=[None, size]).layout for size in (3, 4)])
    assert ["channels_last"] * 2 in [layouts for index, layouts in enumerate(drawn) if has_ordinary_numbers(index)]


def test_a_second_array_alone_is_large_beside_one_that_leaves_sizes_open() -> None:
    drawn = trials(lambda: [explored_array(2, dims=[4]).data.size, explored_array(1, dtype="int64").data.size])
    assert any(first < 1000 < second for first, second in drawn)


def test_ranks_and_dtypes_where_they_are_open() -> None:
    drawn = trials(explored_array)
    assert {one.data.ndim for one in drawn} == {0, 1, 2, 3, 4}
    assert 12 <= sum(one.dtype == "float32" for one in drawn) < TRIALS
    assert {one.dtype for one in drawn} == {"float32", "float64"}


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
def test_whole_numbers_have_their_extremes(dtype: str) -> None:
    every = np.concatenate([one.data.reshape(-1) for one in trials(lambda: explored_array(2, dtype=dtype))])
    limits = np.iinfo(dtype)
    assert {limits.min, 0, 1, limits.max} <= set(every.tolist())
    if dtype == "int64":
        assert ((every > 2**24) & (every < 2**53)).any()
        assert ((every < 0) & (every > -10)).any()


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [
        (0, 1, None),
        (-1, None, None),
        (None, 3, None),
        (0.1, 5, "float64"),
        (1e3, None, None),
        (None, -2.5, None),
        (0, 7, "int64"),
        (None, 5, "int32"),
        (3, None, "int8"),
        (None, -3, "int16"),
        (250, None, "uint8"),
        (-1e30, 1e30, "bfloat16"),
        (2**65, None, "bfloat16"),
    ],
)
def test_bounds_are_law(low: float | None, high: float | None, dtype: str | None) -> None:
    every = numbers(trials(lambda: explored_array(1, dtype=dtype, low=low, high=high), count=60))
    assert not np.isnan(every).any()
    assert low is None or every.min() >= low
    assert high is None or every.max() < high
    assert (low is None) or (high is None) or np.isfinite(every).all()
    assert len(np.unique(every)) > 4


def test_an_open_end_reaches_infinity_and_a_range_around_zero_has_what_is_near_it() -> None:
    above = numbers(trials(lambda: explored_array(1, low=0)))
    below = numbers(trials(lambda: explored_array(1, high=0)))
    assert (above == math.inf).any()
    assert (below == -math.inf).any()
    tiny = np.finfo(np.float32).tiny
    assert ((above > 0) & (above < tiny)).any()
    both = numbers(trials(lambda: explored_array(1, low=-1, high=1)))
    assert ((both != 0) & (abs(both) < tiny)).any()
    assert ((both == 0) & np.signbit(both)).any()


@pytest.mark.parametrize(("dtype", "low"), [("uint8", None), ("int64", 0), ("int32", 3)])
def test_of_whole_numbers_of_all_magnitudes_few_are_the_least_one(dtype: str, low: int | None) -> None:
    drawn = trials(lambda: explored_array(2, dtype=dtype, low=low))
    wide = numbers([one for index, one in enumerate(drawn) if values_in(index)[0] == "wide"])
    assert np.mean(wide == (low or 0)) < 0.2


def test_whole_numbers_below_a_bound_count_from_zero() -> None:
    assert numbers(trials(lambda: explored_array(1, dtype=int, high=4))).min() == 0


def test_a_negative_bound_leaves_positive_numbers_in_every_trial_of_many() -> None:
    drawn = trials(lambda: explored_array(shape=(50,), low=-1))
    assert sum((one.data > 0).any() for one in drawn) > 0.8 * TRIALS


def test_what_a_test_says_is_law() -> None:
    for one in trials(
        lambda: explored_array(3, (2, None, random(3, 5)), dtype="float64", contents="sorted", layout="strided")
    ):
        assert one.data.shape[0] == 2
        assert one.data.shape[2] in (3, 4)
        assert one.data.ndim == 3
        assert (one.dtype, one.layout) == ("float64", "strided")
        assert (np.diff(one.data) >= 0).all()


def test_there_are_no_more_different_numbers_than_there_are() -> None:
    drawn = trials(lambda: explored_array(2, dtype=int, low=-20, high=20, contents="distinct"), count=40)
    assert all(len(np.unique(one.data)) == one.data.size <= 40 for one in drawn)
    assert any(one.data.size > 16 for one in drawn)


def test_arrays_for_which_the_same_is_asked_broadcast_in_every_way() -> None:
    pairs = trials(lambda: (explored_array(2).data.shape, explored_array(2).data.shape), count=60)
    fitting = [(one, two) for one, two in pairs if _broadcast(one, two)]
    assert len(fitting) > 0.9 * len(pairs)
    assert sum(one == two for one, two in fitting) > len(pairs) / 3
    assert any(one != two and np.broadcast_shapes(one, two) == one for one, two in fitting)
    assert any(one != two and np.broadcast_shapes(one, two) == two for one, two in fitting)
    assert any(np.broadcast_shapes(one, two) not in (one, two) for one, two in fitting)


def test_two_arrays_of_four_dimensions_have_half_of_them_each_in_some_trial() -> None:
    ones = trials(lambda: [[size == 1 for size in explored_array(4).data.shape] for _ in range(2)])
    assert [[False, False, True, True], [True, True, False, False]] in ones


@pytest.mark.parametrize("ndim", [3, 4, 5])
def test_the_second_of_two_arrays_has_a_number_for_each_channel_in_some_trial(ndim: int) -> None:
    shapes = trials(lambda: [explored_array(ndim).data.shape for _ in range(2)])
    channels = [wide[1] for wide, one in shapes if one == (1, wide[1], *[1] * (ndim - 2)) and 1 not in wide]
    assert any(size > 1 for size in channels)


def test_arrays_of_open_rank_may_have_fewer_dimensions() -> None:
    pairs = trials(lambda: (explored_array().data.shape, explored_array().data.shape), count=40)
    assert any(0 < len(two) < len(one) for one, two in pairs)
    assert any(0 < len(one) < len(two) for one, two in pairs)
    assert any(not two and one for one, two in pairs)


@pytest.mark.parametrize("count", [2, 3])
def test_shapes_that_broadcast(count: int) -> None:
    drawn = trials(lambda: explored_shapes(count), count=60)
    assert all(np.broadcast_shapes(*shapes) is not None for shapes in drawn)
    wide = [np.broadcast_shapes(*shapes) for shapes in drawn]
    assert any(all(shape != whole for shape in shapes) for shapes, whole in zip(drawn, wide, strict=True))
    assert any(len(shapes[1]) < len(shapes[0]) for shapes in drawn)


def test_arrays_of_one_rank_share_the_sizes_that_are_open_in_both() -> None:
    pairs = trials(lambda: (explored_array(3, (None, 3, 4)).data.shape, explored_array(3, (None, 4, 2)).data.shape))
    alike = [one[0] == two[0] for one, two in pairs]
    assert sum(alike) >= 10
    assert any(one[0] > 8 and one[0] == two[0] for one, two in pairs)
    assert all(one[1:] == (3, 4) and two[1:] == (4, 2) for one, two in pairs)


def test_arrays_of_one_rank_share_a_size_although_others_are_open_in_one_of_them_alone() -> None:
    pairs = trials(lambda: (explored_array(3, (None, None, 3)).data.shape, explored_array(3, (None, 3)).data.shape))
    alike = [one[0] for one, two in pairs if one[0] == two[0]]
    assert len(alike) > TRIALS / 2
    assert max(alike) > 32


def test_an_array_with_one_open_dimension_has_thousands_of_elements_in_some_trials_and_fewer_in_others() -> None:
    sizes = [one.data.size for one in trials(lambda: explored_array(1))]
    assert sum(size > 4096 for size in sizes) == 2
    assert sum(1024 < size < 1448 for size in sizes) == 2  # small enough for an outer product


@pytest.mark.parametrize("axis", [0, 1])
def test_an_open_dimension_of_a_matrix_is_as_long_as_a_vector_in_half_of_the_trials(axis: int) -> None:
    """The last one for their product, and the first one for scores and targets."""
    pairs = trials(lambda: (explored_array(2).data, explored_array(1).data))
    agreeing = [one.shape for one, other in pairs if one.shape[axis] == len(other)]
    assert len(agreeing) >= 7
    assert len({*agreeing}) >= 6


def test_long_rows_are_of_both_signs_below_zero_and_far_above_it() -> None:
    (rows,) = [one.data for one in trials(lambda: explored_array(2)) if one.data.shape[1] > 2000]
    assert rows.shape[0] == 4
    assert rows[0].min() < 0 < rows[0].max()
    assert rows[1].max() < 0
    assert rows[2].min() > 200
    assert np.nanmin(rows[3]) < 0 < np.nanmax(rows[3])


def test_one_number_of_a_long_row_is_nan_if_special_numbers_are_drawn() -> None:
    (rows,) = [one.data for one in trials(lambda: explored_array(2)) if one.data.shape[1] > 2000]
    ((row, place),) = np.argwhere(np.isnan(rows))
    assert row == 3
    assert 1024 < place < rows.shape[1] - 512


@pytest.mark.parametrize("axis", [0, 1])
def test_each_of_two_open_dimensions_is_long_in_some_trial(axis: int) -> None:
    assert any(one.data.shape[axis] > 2000 for one in trials(lambda: explored_array(2)))


@pytest.mark.parametrize("rank", [2, 3])
def test_a_large_batch_has_an_odd_number_of_elements(rank: int) -> None:
    assert any(one.data.size > 4000 and one.data.size % 2 for one in trials(lambda: explored_array(rank)))


@pytest.mark.parametrize("test", range(5))
def test_a_middle_dimension_alone_is_one_in_some_trial(test: int) -> None:
    shapes = [one.data.shape for one in trials(lambda: explored_array(3), test)]
    assert any(shape[1] == 1 < min(shape[0], shape[2]) for shape in shapes)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_in_some_trial_the_last_integer_alone_is_not_zero_and_shows_it_in_its_upper_half_only(dtype: str) -> None:
    arrays = [one.data for one in trials(lambda: explored_array(2, dtype=dtype))]
    half = 1 << arrays[0].dtype.itemsize * 4
    assert any(
        one.shape[1] > 32 and not one.reshape(-1)[:-1].any() and one[-1, -1] and one[-1, -1] % half == 0
        for one in arrays
    )
    assert any(one.size > 1 and one.all() and (one % half == 0).any() for one in arrays)


@pytest.mark.parametrize("ndim", [3, 4])
def test_the_second_of_two_arrays_is_broadcast_like_a_bias_and_in_the_middle_alone(ndim: int) -> None:
    pairs = [(x.data.shape, y.data.shape) for x, y in trials(lambda: (explored_array(ndim), explored_array(ndim)))]
    whole = [(x, y) for x, y in pairs if min(x) > 1]
    assert any(y == (*[1] * (ndim - 1), x[-1]) for x, y in whole)
    assert any(y == (x[0], *[1] * (ndim - 2), x[-1]) for x, y in whole)


def test_a_matrix_is_followed_by_a_vector_in_some_trial_if_the_rank_is_open() -> None:
    pairs = [(x.data.shape, y.data.shape) for x, y in trials(lambda: (explored_array(), explored_array()))]
    assert any(len(x) == 2 and y == x[1:] and min(x) > 1 for x, y in pairs)


@pytest.mark.parametrize("test", range(5))
def test_an_extreme_in_double_precision_comes_after_whole_blocks_of_its_row(test: int) -> None:
    drawn = [one.data for one in trials(lambda: explored_array(2), test)]
    rows = [row for one in drawn if one.dtype == np.float64 and np.isfinite(one).all() for row in one if len(row) > 8]
    odd = [row for row in rows if len(row) % 2 and len(np.unique(row)) > 3]
    assert any(len(row) - 1 in (np.argmax(row), np.argmin(row)) for row in odd)


def test_two_arrays_of_one_shape_have_rows_of_whole_blocks_in_some_trial() -> None:
    pairs = [(x.data.shape, y.data.shape) for x, y in trials(lambda: (explored_array(2), explored_array(2)))]
    assert any(x == y and x[1] % 16 == 0 for x, y in pairs)


@pytest.mark.parametrize("test", range(5))
@pytest.mark.parametrize(("ndim", "of_the_first"), [(2, [1]), (3, [0, 1]), (4, [0, 1, 2])])
def test_instead_of_refused_unlike_shapes_a_column_or_a_bias_comes_first(
    test: int, ndim: int, of_the_first: list[int]
) -> None:
    later = trials(lambda: (explored_array(ndim), explored_array(ndim)), test, count=2 * TRIALS)[TRIALS:]
    (found,) = [place for place in range(TRIALS) if row(TRIALS + place).level("partner") == "other"]
    x, y = later[found]
    assert min(y.data.shape) > 1
    assert x.data.shape == tuple(1 if axis in of_the_first else size for axis, size in enumerate(y.data.shape))
    assert x.layout != "expanded"


@pytest.mark.parametrize("test", range(5))
@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize(("dtype", "narrow"), [("int32", "float32"), ("int64", "float32"), ("int64", "float64")])
def test_two_arrays_of_whole_numbers_differ_where_a_float_does_not(
    dtype: str, narrow: str, rank: int, test: int
) -> None:
    pairs = trials(lambda: (explored_array(rank, dtype=dtype).data, explored_array(rank, dtype=dtype).data), test)
    met = [np.broadcast_arrays(*pair) for pair in pairs if _broadcast(pair[0].shape, pair[1].shape)]
    assert any(((one < two) & (one.astype(narrow) == two.astype(narrow))).any() for one, two in met)
    assert any(((one > two) & (one.astype(narrow) == two.astype(narrow))).any() for one, two in met)


@pytest.mark.parametrize("test", range(5))
def test_nan_meets_nan_in_some_trial_and_a_number_in_another(test: int) -> None:
    pairs = trials(lambda: (explored_array(2).data, explored_array(2).data), test)
    met = [np.broadcast_arrays(*pair) for pair in pairs if _broadcast(pair[0].shape, pair[1].shape)]
    assert any((np.isnan(one) & np.isnan(two)).any() for one, two in met)
    assert any((np.isnan(one) & np.isfinite(two)).any() for one, two in met)
    assert any((np.isfinite(one) & np.isnan(two)).any() for one, two in met)
    assert any((np.isinf(one) & (one == two)).any() for one, two in met)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_two_arrays_have_equal_numbers_and_neighbours_in_some_trials(dtype: str) -> None:
    pairs = trials(lambda: (explored_array(1, dtype=dtype).data, explored_array(1, dtype=dtype).data))
    pairs = [(one, two) for one, two in pairs if one.shape == two.shape and one.size > 1]
    great = 2 if dtype == "float32" else 2**53

    def near(one: Any, two: Any) -> Any:
        with np.errstate(all="ignore"):
            return (two - one == 1) if dtype == "int64" else (np.nextafter(one, np.float32(math.inf)) == two)

    assert sum(bool((one == two).any()) for one, two in pairs) >= 2
    assert any((near(one, two) & (np.abs(one.astype(np.float64)) >= great)).any() for one, two in pairs)


def test_each_of_two_dimensions_alone_is_broadcast() -> None:
    pairs = trials(lambda: (explored_array(2).data.shape, explored_array(2).data.shape))
    seen = {(one[0] == two[0], one[1] == two[1], one < two) for one, two in pairs if _broadcast(one, two)}
    assert {(True, False, True), (False, True, True), (True, False, False), (False, True, False)} <= seen


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("ndim", [1, 2, 3, None])
def test_arrays_of_either_precision_have_nan_and_infinity(ndim: int | None, dtype: str) -> None:
    drawn = [one.data for one in trials(lambda: explored_array(ndim)) if one.dtype == dtype]
    assert any(np.isnan(data).any() for data in drawn)
    assert any((data == math.inf).any() for data in drawn)


@pytest.mark.parametrize("ndim", [1, 2, 3, None])
def test_all_numbers_of_an_array_are_negative_in_some_trial(ndim: int | None) -> None:
    drawn = [one.data for one in trials(lambda: explored_array(ndim))]
    assert any((data < 0).all() and len(np.unique(data)) > 1 for data in drawn)


def test_an_open_rank_leaves_long_arrays_long() -> None:
    shapes = [one.data.shape for one in trials(explored_array)]
    assert any(shape[-1] > 1000 for shape in shapes if shape)
    assert any(shape[0] > 1000 for shape in shapes if len(shape) > 1)


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
def test_a_single_number_of_the_given_rank_is_drawn_and_broadcast_as_either_operand(ndim: int) -> None:
    pairs = trials(lambda: (explored_array(ndim).data, explored_array(ndim).data))
    assert any(one.size == 1 < two.size for one, two in pairs if _broadcast(one.shape, two.shape))
    assert any(two.size == 1 < one.size for one, two in pairs if _broadcast(one.shape, two.shape))


def test_long_rows_end_in_an_extreme_in_some_trials() -> None:
    rows = [row for one in trials(lambda: explored_array(2, low=-4, high=4)) for row in one.data if len(row) > 8]
    assert sum(row[-1] == row.max() for row in rows) > len(rows) / 8
    assert sum(row[-1] == row.min() for row in rows) > len(rows) / 8


def test_positions_are_whole_numbers_where_no_dtype_is_given() -> None:
    for one in trials(lambda: explored_array(1, contents="indices", high=5)):
        assert one.dtype == "int64"
        assert set(one.data.tolist()) <= {0, 1, 2, 3, 4}


@pytest.mark.parametrize("ndim", [2, None])
def test_truth_values_are_alike_but_for_the_last_in_some_trial(ndim: int | None) -> None:
    past = [one.data.reshape(-1) for one in trials(lambda: explored_array(ndim, dtype=bool)) if one.data.size % 8]
    long = [flat for flat in past if flat.size > 8]
    assert any(flat.sum() == 1 and flat[-1] for flat in long)
    assert any(flat.sum() == flat.size - 1 and not flat[-1] for flat in long)


@pytest.mark.parametrize("ndim", [1, 2])
def test_all_truth_values_are_true_in_some_trial_and_false_in_another(ndim: int) -> None:
    drawn = [one.data for one in trials(lambda: explored_array(ndim, dtype=bool))]
    assert any(one.size > 8 and one.all() for one in drawn)
    assert any(one.size > 1 and not one.any() for one in drawn)


def test_some_numbers_are_neighbours_of_halves_and_of_whole_numbers() -> None:
    drawn = np.concatenate([one.data.reshape(-1) for one in trials(lambda: explored_array(2, dtype="float32"))])
    for number in map(np.float32, (0.5, -0.5, 1.0, -1.0)):
        assert {np.nextafter(number, np.float32(-9)), np.nextafter(number, np.float32(9))} <= {*drawn}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_sum_of_some_row_of_finite_numbers_overflows(dtype: str) -> None:
    drawn = [one.data for one in trials(lambda: explored_array(2, dtype=dtype)) if np.isfinite(one.data).all()]
    with np.errstate(over="ignore"):
        assert any(np.isinf(one.sum(axis=1)).any() for one in drawn)


def test_rows_and_columns_are_masked_in_some_trial() -> None:
    masked = [np.isneginf(one.data) for one in trials(lambda: explored_array(2, (5, 5)))]
    assert any(one.all(axis=1).any() and one.all(axis=0).any() for one in masked)


def test_some_numbers_lie_far_from_zero_beside_their_differences() -> None:
    spread = [
        float(np.ptp(one.data) / one.data.min()) for one in trials(lambda: explored_array(2)) if one.data.min() > 0
    ]
    assert min(spread) < 0.02


def test_a_product_has_a_gradient_at_its_only_zero_in_some_trial() -> None:
    assert any((one.data == 0).sum() == 1 for one in trials(lambda: explored_array(2)))


def test_arrays_for_which_something_else_is_asked_have_sizes_of_their_own() -> None:
    pairs = trials(lambda: (explored_array(2, (None, 3)).data.shape, explored_array(2, (3, None)).data.shape))
    assert len({(one[0], two[1]) for one, two in pairs}) > 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ndim": 3, "dims": (None, None, None, 4)}, r"ndim=3, dim3=4\).*expected dimensions up to dim2"),
        ({"ndim": 0, "dims": (2,)}, "expected no dimensions, because a tensor of rank 0 has none"),
        ({"ndim": random(1, 3), "dims": (None, None, 4)}, r"dim2=4\).*expected dimensions up to dim1"),
        ({"ndim": oneof(1, random(0, 3)), "dims": (None, None, 4)}, r"dim2=4\).*expected dimensions up to dim1"),
        ({"ndim": constant(0), "dims": (2,)}, "expected no dimensions, because a tensor of rank 0 has none"),
        ({"shape": (2, 3), "ndim": 2}, "expected either shape or ndim"),
        ({"shape": (2, 3), "dims": (None, 3)}, "expected either shape or dim1"),
        ({"dtype": bool, "low": 0}, "expected no bounds, because booleans have none"),
        ({"dtype": int, "contents": "indices"}, "expected high="),
        ({"ndim": 1, "layout": "transposed"}, "expected rank 2 or more for this layout, got 1"),
        ({"shape": (), "layout": "strided"}, "expected rank 1 or more for this layout, got 0"),
        ({"ndim": random(1, 3), "layout": "sliced"}, "expected rank 3 or more for this layout, got 2"),
        ({"shape": 3, "layout": "pitched"}, "expected rank 2 or more for this layout, got 1"),
        ({"shape": (1, 1), "layout": "expanded"}, "expected a size above 1"),
        ({"shape": 1, "layout": "expanded"}, "expected a size above 1"),
        ({"ndim": 2, "dims": (1, 1), "layout": "expanded"}, "expected a size above 1"),
        ({"contents": "distinct", "layout": "expanded"}, "this one repeats numbers"),
        ({"contents": "one_hot", "layout": "expanded"}, "this one repeats numbers"),
        ({"contents": "one_hot", "low": 3, "high": 5}, "expected no bounds, because it contains zeros and ones"),
        ({"contents": "one_hot", "high": 0.5}, "expected no bounds, because it contains zeros and ones"),
        ({"low": 2, "high": 2}, "expected finite numbers with low < high"),
        ({"low": math.inf}, "expected a finite number"),
        ({"ndim": -1}, "expected a whole number >= 0"),
        ({"contents": "integers", "low": 0.2, "high": 0.8}, r"there is none in \[0.2, 0.8\)"),
        ({"ndim": 1, "dims": ("three",)}, "dim0='three' of the shape at .*expected a whole number >= 0"),
        ({"ndim": 2, "dims": (None, -1)}, "dim1=-1 of the shape at .*expected a whole number >= 0"),
    ],
)
def test_arguments_that_contradict_each_other_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(GeneratorError, match=rf"(?s)test_generators_open_arrays\.py:\d+.*{message}|{message}"):
        trials(lambda: explored_array(**arguments), count=1)


@pytest.mark.parametrize(
    "arguments",
    [
        {"ndim": random(1, 5), "dims": (None, None, None, 4)},
        {"ndim": random(1, random(4, 6)), "dims": (None, None, None, 4)},
        {"ndim": oneof(1, 4), "dims": (None, None, None, 4)},
        {"ndim": random(1, 5).filter(lambda rank: rank != 2), "layout": "sliced"},
        {"ndim": 2, "dims": (1,), "layout": "expanded"},
        {"shape": (1, random(1, 3)), "layout": "expanded"},
    ],
)
def test_sizes_and_layouts_that_some_drawn_rank_or_size_allows_are_drawn(arguments: dict[str, Any]) -> None:
    drawn = trials(lambda: explored_array(**arguments))
    wanted = arguments.get("layout")
    assert any(one.data.shape[3:4] == (4,) if wanted is None else one.layout == wanted for one in drawn)


@pytest.mark.parametrize("count", [0, -1, 1.5, None])
def test_no_tensors_broadcast_with_each_other(count: Any) -> None:
    with pytest.raises(GeneratorError, match=rf"broadcast_tensors\({count}\) at .*expected a number of tensors"):
        trials(lambda: explored_shapes(count), count=1)


def test_a_number_without_bounds_is_of_every_kind_that_its_parameter_takes() -> None:
    whole = {value for test in range(5) for value in trials(lambda: random().draw(int), test)}
    assert {0, 1, 2, 3, 4, 5} <= whole
    assert min(whole) < 0
    assert max(whole) > 6
    floats = [value for test in range(5) for value in trials(lambda: random().to(float).value(), test)]
    assert min(floats) < -1
    assert max(floats) > 10
    assert any(0 < value < 1 for value in floats)
    assert all(value > 0 for test in range(5) for value in trials(lambda: random().to(int).value(), test))


@pytest.mark.parametrize("first", [1, 2, 3])
def test_a_fraction_without_bounds_is_each_number_that_functions_compare_with(first: int) -> None:
    drawn = trials(lambda: (random(0, first).draw(int), random().draw(float))[1])
    assert {0.0, 1.0, 0.5, -1.0, 2.0, -0.5, -2.0} <= {*drawn}
    assert max(map(abs, drawn)) > 20
    assert min(abs(value) for value in drawn if value) < 0.01


@pytest.mark.parametrize("rank", [4, 5])
def test_each_dimension_of_up_to_five_has_its_turn_counted_from_either_end(rank: int) -> None:
    drawn = trials(lambda: (explored_array(rank), random(-rank, rank).draw(int))[1])
    assert {*drawn} == {*range(-rank, rank)}


def test_a_number_that_may_be_whole_or_a_fraction_has_no_bounds_either() -> None:
    """Such as `alpha` of torch.add, whose type is a Number."""
    drawn = [value for test in range(3) for value in trials(lambda: random().draw(int | float), test)]
    for kind in (int, float):
        values = [value for value in drawn if type(value) is kind]
        assert min(values) < 0
        assert max(map(abs, values)) > 6
    sizes = [value for value in trials(lambda: random().draw(int | tuple[int, int])) if type(value) is int]
    assert min(sizes) > 0  # a number that may also be a tuple is a size, of a kernel or a stride


def test_a_fraction_between_whole_bounds_is_a_whole_number_in_every_third_trial() -> None:
    drawn = trials(lambda: random(1, 4).draw(float))
    assert {1.0, 2.0, 3.0} <= {*drawn}
    assert sum(value != int(value) for value in drawn) > 10


def _broadcast(*shapes: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True
