"""Numbers of open arrays stay what the test asks for: at the ends of a dtype, and in every layout."""

from __future__ import annotations

import pytest

from generators import explored_array, oneof
from tests.generators.test_generators_open_arrays import trials


def test_whole_numbers_with_only_an_upper_bound_are_not_negative_after_an_array_that_has_negative_ones() -> None:
    for contents in (None, "sorted"):
        pairs = trials(
            lambda contents=contents: [
                explored_array(1, (8,), dtype=int, high=high, contents=contents).data for high in (0, 5)
            ]
        )
        assert all(first.min() < 0 <= second.min() and second.max() < 5 for first, second in pairs)


@pytest.mark.parametrize("layout", [None, oneof("expanded", "expanded")])
def test_each_row_of_one_hot_numbers_has_a_single_one_in_every_layout(layout: object) -> None:
    for dtype in ("float32", "int64"):
        drawn = trials(lambda dtype=dtype: explored_array(2, contents="one_hot", dtype=dtype, layout=layout))
        assert all((one.data.sum(axis=-1) == 1).all() for one in drawn)
