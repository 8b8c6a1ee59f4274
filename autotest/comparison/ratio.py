"""How far two values are apart, as a multiple of what is tolerated."""

from __future__ import annotations

from typing import Any

import numpy as np

from autotest.base.settings import Tolerance
from autotest.comparison.elementwise import distance
from autotest.comparison.values import limits
from autotest.program.values import TensorValue


def over_tolerance(expected: Any, actual: Any, tolerance: Tolerance) -> float:
    """The greatest error over what is tolerated: more than one is too much, infinity for what cannot be compared."""
    if expected is None and actual is None:
        return 0.0
    if type(expected) is not TensorValue or type(actual) is not TensorValue:
        return 0.0 if type(expected) is type(actual) and expected == actual else float("inf")
    one, other = expected.data, actual.data
    if one.shape != other.shape:
        return float("inf")
    if not one.size:
        return 0.0
    if one.dtype.kind not in "fc":
        return 0.0 if np.array_equal(one, other) else float("inf")
    rtol, atol = limits(tolerance, expected, actual)
    with np.errstate(all="ignore"):
        allowed = np.maximum(atol + rtol * np.abs(one).astype(np.float64), 1e-300)
        ratios = distance(one, other.astype(one.dtype)) / allowed
    return float(np.nan_to_num(ratios, nan=0.0, posinf=np.inf).max())
