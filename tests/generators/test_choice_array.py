"""Arrays of picked numbers have a dtype that holds these numbers."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from generators import GeneratorError, Source, choice_array, using


@pytest.mark.parametrize(
    ("picked", "dtype"),
    [
        ([300], "int8"),
        ([-1], "uint8"),
        ([math.inf], int),
        ([math.nan], int),
        ([1e20], int),
        ([2**70], int),
        ([1 + 2j], int),
        ([1 + 2j], float),
        ([1e30], "float16"),
        ([2], bool),
        (["1"], float),
    ],
)
def test_a_dtype_that_does_not_hold_what_is_picked_is_refused(picked: list[Any], dtype: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(GeneratorError, match="expected a dtype that holds what is picked"):
            choice_array(picked, dtype=dtype)


@pytest.mark.parametrize(
    ("picked", "dtype"),
    [([0.1], float), ([2**24 + 1], float), ([math.inf, math.nan], float), ([1 + 0j], int), ([True], int), ([0], bool)],
)
def test_a_floating_dtype_rounds_and_others_hold_equal_numbers(picked: list[Any], dtype: Any) -> None:
    with warnings.catch_warnings(), using(Source(1)):
        warnings.simplefilter("error")
        drawn = choice_array(picked, 5, dtype=dtype).value().data
    assert np.isin(drawn, np.array(picked).real.astype(drawn.dtype)).all() or np.isnan(drawn).any()


def test_a_number_to_pick_below_may_be_one_of_numpy() -> None:
    with using(Source(1)):
        assert {*choice_array(np.int64(3), 50).value().data.tolist()} == {0, 1, 2}
