"""Random words, and numbers between two bounds that are made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from generators import Bits, Spec
from generators.contents import uniform
from generators.dtypes import FLOATING


@pytest.mark.parametrize("bound", [1, 2, 3, 17, 1 << 20, (1 << 20) + 1, 1 << 40, 1 << 64])
def test_a_single_number_is_the_one_that_an_array_of_one_has_and_so_are_those_after_it(bound: int) -> None:
    for seed in range(20):
        one, array = Bits(seed), Bits(seed)
        for _ in range(3):
            assert one.one_below(bound) == array.below(bound, 1).item()
        assert one.words(2).tolist() == array.words(2).tolist()


@pytest.mark.parametrize("bound", [1, 2, 3, 17, (1 << 20) - 1, 1 << 20])
def test_the_greatest_number_below_a_bound_is_the_one_before_it(bound: int) -> None:
    class Greatest(Bits):
        def half_words(self, count: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
            return np.full(count, 0xFFFFFFFF, dtype=np.uint32)

    assert Greatest(0).below(bound, 2).tolist() == [bound - 1] * 2
    assert Greatest(0).places(bound, 2).dtype == np.intp


class _Ends(Bits):
    """Return the least and greatest numbers that can be drawn, and some in the middle."""

    def words(self, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        ends = [0, 1 << 11, (1 << 63) - (1 << 11), 1 << 63, (1 << 64) - (1 << 12), (1 << 64) - 1]
        return np.resize(np.array(ends, dtype=np.uint64), count)

    def half_words(self, count: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
        return (self.words(count) >> np.uint64(32)).astype(np.uint32)


@pytest.mark.parametrize("dtype", FLOATING)
def test_with_zero_between_the_bounds_rounding_leads_no_number_past_either(dtype: str) -> None:
    numbers = np.random.default_rng(3)
    for _ in range(500):
        low, high = (sign * 10.0 ** numbers.uniform(-4, 4) for sign in (-1, 1))
        values = uniform(_Ends(0), Spec((6,), dtype, low, high)).astype(np.float64)
        assert (values >= low).all(), (low, high)
        assert (values < high).all(), (low, high)
