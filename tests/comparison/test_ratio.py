"""The error as a multiple of the tolerance, which tables of layers show."""

from __future__ import annotations

import math

import numpy as np
import pytest

from autotest.base.settings import Tolerance
from autotest.comparison import TensorValue
from autotest.comparison.ratio import over_tolerance

INFINITY, NAN = math.inf, math.nan


def ratio(expected: list[float], actual: list[float]) -> float:
    sides = (TensorValue(np.array(side, "float32"), "float32", "cpu", False) for side in (expected, actual))
    return over_tolerance(*sides, Tolerance(rtol=1e-3, atol=1e-3))


def test_the_worst_element_counts() -> None:
    assert ratio([1.0, 3.0], [1.0, 3.0]) == 0
    assert ratio([1.0, 3.0], [1.001, 3.008]) == pytest.approx(2, rel=1e-3)


@pytest.mark.parametrize(
    ("expected", "actual"), [(NAN, 2.0), (2.0, NAN), (INFINITY, 2.0), (2.0, INFINITY), (INFINITY, -INFINITY)]
)
def test_a_nan_or_an_infinity_of_one_side_only_is_infinitely_far(expected: float, actual: float) -> None:
    assert ratio([1.0, expected], [1.0, actual]) == INFINITY


@pytest.mark.parametrize("both", [NAN, INFINITY, -INFINITY])
def test_the_same_nan_or_infinity_is_no_error_and_hides_none(both: float) -> None:
    assert ratio([1.0, both], [1.0, both]) == 0
    assert ratio([1.0, both], [1.006, both]) == pytest.approx(3, rel=1e-3)
