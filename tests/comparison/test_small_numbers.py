"""Tensors of small numbers only are compared relative to their own size, unless the test sets a tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from autotest.base.settings import Tolerance
from autotest.comparison import Comparison, TensorValue, compare_values

DEFAULT = Tolerance()


def differs(expected: list[float], actual: list[float], tolerance: Tolerance = DEFAULT, dtype: str = "float32") -> bool:
    sides = (TensorValue(np.array(side, dtype), dtype, "cpu", False) for side in (expected, actual))
    return bool(compare_values("x0.grad", *sides, Comparison("backward", tolerance)))


def test_a_small_gradient_that_is_missing_differs() -> None:
    assert differs([1e-9, -3e-9], [0.0, 0.0])
    assert differs([0.0, 0.0], [1e-9, -3e-9])


def test_a_small_tensor_that_is_twice_as_large_differs() -> None:
    assert differs([1e-9, -3e-9], [2e-9, -6e-9])


def test_rounding_of_the_greatest_of_small_numbers_is_tolerated_in_all_of_them() -> None:
    assert not differs([1e-9, 1e-13], [1e-9 * (1 + 1e-4), 2e-13])


def test_small_numbers_beside_great_ones_are_not_looked_at_by_themselves() -> None:
    assert not differs([1.0, 1e-9], [1.0, 0.0])


@pytest.mark.parametrize("tolerance", [Tolerance(atol=1e-5), Tolerance(rtol=1e-4), Tolerance(by_scale=False)])
def test_a_tolerance_that_the_test_gave_is_law(tolerance: Tolerance) -> None:
    assert not differs([1e-9, -3e-9], [0.0, 0.0], tolerance)


def test_a_plain_number_that_is_small_is_compared_as_a_tensor_of_it() -> None:
    def plain_differs(expected: float, actual: float, tolerance: Tolerance = DEFAULT) -> bool:
        return bool(compare_values("v0", expected, actual, Comparison("forward", tolerance)))

    assert plain_differs(1e-6, 2e-6)
    assert plain_differs(1e-6, 0.0)
    assert plain_differs(0.0, 1e-6)
    assert not plain_differs(1e-6, 1e-6 * (1 + 1e-4))
    assert not plain_differs(1e-6, 0.0, Tolerance(atol=1e-5))


def test_what_single_precision_can_hardly_hold_may_be_zero() -> None:
    assert not differs([1e-40], [0.0])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nothing_and_an_infinity_are_not_small(dtype: str) -> None:
    assert not differs([], [], dtype=dtype)
    assert not differs([np.nan, 0.0], [np.nan, 0.0], dtype=dtype)
    assert not differs([np.nan, np.nan], [np.nan, np.nan], dtype=dtype)
    assert not differs([np.inf, 1e-9], [np.inf, 0.0], dtype=dtype)


def test_a_large_array_is_looked_at_as_a_small_one_is() -> None:
    assert differs([1e-5] * 5000, [0.0] * 5000)
    assert not differs([1e-5] * 4999 + [1.0], [0.0] * 4999 + [1.0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_small_numbers_beside_a_nan_are_small(dtype: str) -> None:
    assert differs([np.nan, 1e-9], [np.nan, 0.0], dtype=dtype)
    assert differs([np.nan, 0.0], [np.nan, 1e-9], dtype=dtype)
    assert not differs([np.nan, 1e-9], [np.nan, 1e-9 * (1 + 1e-8)], dtype=dtype)
    assert not differs([np.nan, 1.0, 1e-9], [np.nan, 1.0, 0.0], dtype=dtype)
