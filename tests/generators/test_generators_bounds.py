"""Numbers of open arrays stay what the test asks for: at the ends of a dtype, and in every layout."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
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


@pytest.mark.parametrize(
    ("dtype", "low"), [("int8", 127), ("uint8", 255), ("int16", 32767), ("int64", 2**63 - 1), ("int8", 120)]
)
def test_whole_numbers_from_a_lower_bound_at_the_end_of_the_dtype_reach_its_greatest(dtype: str, low: int) -> None:
    drawn = trials(lambda: explored_array(1, (8,), dtype=dtype, low=low).data)
    assert min(one.min() for one in drawn) == low
    assert max(one.max() for one in drawn) == np.iinfo(dtype).max


@pytest.mark.parametrize("bounds", [{"low": -1e308, "high": 1e308}, {"low": 1e308}, {"high": -1e308}])
def test_doubles_can_have_bounds_whose_multiples_are_infinite(bounds: dict[str, float]) -> None:
    for one in trials(lambda: explored_array(1, (8,), dtype="float64", **bounds).data):
        assert (one >= bounds.get("low", -math.inf)).all()
        assert (one < bounds.get("high", math.inf)).all() or "high" not in bounds


@pytest.mark.parametrize(
    "arguments",
    [
        {"dtype": "int16", "shape": (200, 200), "contents": "integers"},
        {"dtype": "int16", "low": 32760, "contents": "ties"},
        {"dtype": "int64", "low": 2**63 - 5, "contents": "sorted"},
        {"dtype": "int16", "high": -32760, "contents": "integers"},
    ],
)
def test_the_default_range_of_contents_ends_with_the_dtype(arguments: dict[str, Any]) -> None:
    for one in trials(lambda: explored_array(**arguments).data):
        low, high = arguments.get("low"), arguments.get("high")
        assert low is None or (one >= low).all()
        assert high is None or (one < high).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "uint8", "float32"])
@pytest.mark.parametrize("bounds", [{}, {"low": 0, "high": 1.25}, {"low": 100}])
def test_open_sizes_leave_enough_values_of_the_dtype_to_be_distinct(dtype: str, bounds: dict[str, float]) -> None:
    for ndim in (1, 2):
        for one in trials(lambda ndim=ndim: explored_array(ndim, dtype=dtype, contents="distinct", **bounds).data):
            assert np.unique(one).size == one.size
