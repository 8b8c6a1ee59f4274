"""The fast paths give the same result as the formula, evaluated with exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from autotest.base.settings import Tolerance
from autotest.comparison import Comparison, TensorValue, compare_values
from autotest.comparison.elementwise import agree, differing, distance

FLOATS = st.floats(width=32)
#: Pairs that are close, so that the tolerance decides, and arbitrary pairs.
NEAR = st.tuples(st.floats(-1e3, 1e3, width=32), st.floats(-1e-3, 1e-3)).map(
    lambda pair: (pair[0], float(np.float32(pair[0] + pair[1])))
)
PAIRS = st.lists(NEAR | st.tuples(FLOATS, FLOATS), min_size=1, max_size=6)
TOLERANCES = st.sampled_from(
    [(0.0, 0.0), (1e-4, 1e-5), (0.0, 1e-3), (1e-3, 0.0), (0.5, 0.5), (1e-4, 1e-20), (0.0, 2.0**-10)]
)


def holds(expected: float, actual: float, rtol: float, atol: float) -> bool | None:
    """Return the formula's exact result; None so close to the bound that float64 may give either result."""
    if not (np.isfinite(expected) and np.isfinite(actual)):
        return bool(expected == actual or (np.isnan(expected) and np.isnan(actual)))
    gap = abs(Fraction(actual) - Fraction(expected))
    bound = Fraction(atol) + Fraction(rtol) * abs(Fraction(expected))
    if gap != bound and abs(gap - bound) <= bound * Fraction(1, 10**12):
        return None
    return gap <= bound


@settings(derandomize=True, deadline=None, max_examples=400)
@given(PAIRS, TOLERANCES, st.sampled_from([1, 2000]))
def test_agreement_is_what_the_formula_says_of_every_element(pairs, limits, repeat):
    rtol, atol = limits
    verdicts = [holds(one, other, rtol, atol) for one, other in pairs]
    if None in verdicts:
        return
    expected, actual = (np.tile(np.array(side, np.float32), repeat) for side in zip(*pairs, strict=True))
    sides = (TensorValue(side, "float32", "cpu", False) for side in (expected, actual))
    found = compare_values("v1", *sides, Comparison("forward", Tolerance(rtol, atol), 1))
    assert bool(found) == (not all(verdicts))
    # Called directly: the slow path would correct a fast path that is too strict, which would only cost time.
    assert agree(expected, actual, rtol, atol) == all(verdicts)
    assert differing(expected, actual, rtol, atol)[: len(pairs)].tolist() == [not verdict for verdict in verdicts]


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(st.tuples(*[st.integers(-(2**63), 2**63 - 1)] * 2), min_size=1, max_size=6))
def test_integer_distances_are_exact_up_to_their_rounding_to_float64(pairs):
    expected, actual = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    assert distance(expected, actual).tolist() == [float(abs(other - one)) for one, other in pairs]
    assert differing(expected, actual, 1.0, 1e30).tolist() == [one != other for one, other in pairs]


def test_nothing_agrees_with_nothing():
    for dtype in (np.float16, np.float32, np.float64, np.complex64, np.int64):
        assert agree(np.zeros((0, 3), dtype), np.zeros((0, 3), dtype), 0.0, 0.0)
