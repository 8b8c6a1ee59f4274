"""Sizes of one array beside those of another, and of one dimension beside the next: columns, squares."""

from __future__ import annotations

from typing import Any

import pytest

from generators import explored_array, random
from tests.support.drawing import trials


@pytest.mark.parametrize("test", range(3))
def test_a_column_as_either_operand_meets_rows_of_a_block_or_more(test: int) -> None:
    shapes = [
        (one.data.shape, two.data.shape) for one, two in trials(lambda: (explored_array(2), explored_array(2)), test)
    ]
    assert any(one[1] == 1 and one[0] > 1 and two[1] > 8 for one, two in shapes)
    assert any(two[1] == 1 and two[0] == one[0] > 1 and one[1] >= 8 for one, two in shapes)


@pytest.mark.parametrize("test", range(3))
@pytest.mark.parametrize("dims", [(None, 4), (4, None), (None, None)])
def test_a_matrix_is_square_once_contiguous_and_once_transposed(dims: Any, test: int) -> None:
    drawn = trials(lambda: explored_array(2, dims), test)
    square = {one.layout for one in drawn if one.data.shape[0] == one.data.shape[1] > 1}
    assert {"contiguous", "transposed"} <= square


@pytest.mark.parametrize("test", range(3))
def test_the_matrices_of_a_batch_are_square_whatever_its_size_is(test: int) -> None:
    drawn = trials(lambda: explored_array(3, (random(5, 7), random(2, 5), None)), test)
    assert any(one.data.shape[1] == one.data.shape[2] and one.layout == "transposed" for one in drawn)


@pytest.mark.parametrize("test", range(3))
@pytest.mark.parametrize("dims", [(None, None, None), (None, None, 4), (None, 3, None, None)])
def test_all_of_several_arrays_of_one_shape_are_a_batch_of_one_in_some_trial(dims: Any, test: int) -> None:
    drawn = trials(lambda: [explored_array(len(dims), dims).data.shape for _ in range(3)], test)
    alike = [shapes[0] for shapes in drawn if len(set(shapes)) == 1]
    assert any(shape[0] == 1 and min(shape[1:]) > 1 for shape in alike)
