"""The difference of two values as a multiple of the tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np

from autotest.base.settings import Tolerance
from autotest.comparison.elementwise import distance, identical
from autotest.comparison.values import limits
from autotest.program.values import TensorValue


def over_tolerance(expected: Any, actual: Any, tolerance: Tolerance) -> float:
    """Return the greatest ratio of error to tolerance.

    A ratio above 1 is a mismatch. It is infinite for values that cannot be compared or must be equal and are not.
    """
    if expected is None and actual is None:
        return 0.0
    if type(expected) is not TensorValue or type(actual) is not TensorValue:
        return 0.0 if type(expected) is type(actual) and expected == actual else float("inf")
    one, other = expected.data, actual.data
    if one.shape != other.shape:
        return float("inf")
    if not one.size or identical(one, other):
        return 0.0
    if one.dtype.kind not in "fc":
        return 0.0 if np.array_equal(one, other) else float("inf")
    rtol, atol = limits(tolerance, expected, actual)
    with np.errstate(all="ignore"):
        # NaN and infinity allow no error: `distance` is 0 where both sides have the same one, and infinite elsewhere.
        size = np.where(np.isfinite(one), np.abs(one), 0.0).astype(np.float64)
        ratios = distance(one, other.astype(one.dtype)) / np.maximum(atol + rtol * size, 1e-300)
    return float(ratios.max())
