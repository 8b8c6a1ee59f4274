"""Compares two arrays of the same shape element by element.

In all functions NaN agrees with NaN, an infinity with the same infinity, and minus zero with zero.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from autotest.base.numpy_warnings import warnings_off

Values = np.ndarray[Any, Any]

#: Size in bytes up to which arrays are compared by the code with the least overhead per call.
_SMALL = 4096
#: Number of elements whose distances in ULPs are computed at once, to bound the memory that this takes.
_AT_ONCE = 1 << 16
#: Factor on the bound of the quick checks, which covers their own rounding errors: those of a sum of up to 1,024
#: float32 squares are smaller.
_SLACK = 0.98


@dataclasses.dataclass(frozen=True, slots=True)
class Statistics:
    """How two arrays of one shape differ. Indices are tuples, ``()`` for a scalar."""

    mismatched: int
    total: int
    rtol: float
    atol: float
    #: Greatest absolute difference of the mismatched elements; infinite if a NaN or an infinity is on one side only.
    greatest_abs: float
    abs_index: tuple[int, ...]
    abs_expected: Any
    abs_actual: Any
    #: Greatest ``|actual - expected| / |expected|``; infinite if expected is 0.
    greatest_rel: float
    rel_index: tuple[int, ...]
    #: Greatest distance in units in the last place of the expected dtype; None for dtypes that are not real floating.
    ulps: int | None = None
    #: Number of mismatched elements with a NaN or an infinity that the other side does not have.
    nonfinite: int = 0
    dtype: str = ""
    #: The dtype whose tolerance was used: `dtype`, or a coarser one in which the numbers were computed.
    tolerated_as: str = ""
    #: The absolute tolerance of numbers around 1; `atol` is below it if all numbers are small.
    usual_atol: float = 0.0


#: A tensor counts as small if its greatest magnitude is below this factor times atol / rtol.
_SMALL_BELOW = 0.1
#: Magnitudes below this one are near the lower limit of single precision, where some frameworks flush to zero.
_LEAST = 1e-35


def is_small(expected: Values, actual: Values, rtol: float, atol: float) -> bool:
    """Whether all elements are so small that `atol` would hide real differences; returns quickly if not.

    A NaN has no magnitude, so the numbers beside it decide; an infinity is not small.
    """
    if expected.dtype.kind != "f" or not expected.size or not rtol:
        return False
    limit = _SMALL_BELOW * atol / rtol
    if expected.dtype.itemsize > 2 and float(np.vdot(expected, expected)) >= limit * limit * expected.size:
        return False  # the root mean square reaches the limit, so the greatest element does, too
    return _LEAST < _scale(expected, actual) < limit


def scaled_limits(expected: Values, actual: Values, rtol: float, atol: float) -> tuple[float, float]:
    """Return ``(rtol, atol)``, with `atol` relative to the greatest element if all elements are small.

    This way a side with small numbers differs from a side with only zeros.
    """
    if not is_small(expected, actual, rtol, atol):
        return rtol, atol
    return rtol, rtol / _SMALL_BELOW * _scale(expected, actual)


def _scale(expected: Values, actual: Values) -> float:
    """Return the greatest magnitude in `expected`, or in `actual` if `expected` is all zeros; NaN does not count."""
    with warnings_off():
        return _greatest_magnitude(expected) or _greatest_magnitude(actual)


def _greatest_magnitude(values: Values) -> float:
    return float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))


def identical(expected: Values, actual: Values) -> bool:
    """Whether two arrays of the same shape are surely equal and of the same dtype.

    False leaves it open, since elements may still agree (NaN with NaN, minus zero with zero).
    """
    if expected.dtype != actual.dtype:
        return False
    if expected.nbytes <= _SMALL:
        return expected.tobytes() == actual.tobytes()
    return bool(np.count_nonzero(expected == actual) == expected.size)


def agree(expected: Values, actual: Values, rtol: float, atol: float) -> bool:
    """Whether no element is `differing`; optimised for arrays that agree, as most pairs of a run do."""
    if expected.dtype == actual.dtype and expected.dtype.kind == "f":
        if expected.nbytes <= _SMALL:
            return _agree_small(expected, actual, rtol, atol)
        if expected.dtype.itemsize in (4, 8):
            with warnings_off():
                gap = actual - expected
                greatest = max(float(gap.max()), -float(gap.min()))
            if greatest <= _SLACK * atol:
                return True
    return not differing(expected, actual, rtol, atol).any()


def _agree_small(expected: Values, actual: Values, rtol: float, atol: float) -> bool:
    """Return the same as `agree` for small arrays of real floats.

    This avoids `warnings_off`, which takes longer than the whole comparison: an inner product raises no floating-point
    flags, and if it is moderate, the subtraction raises none either.
    """
    if expected.dtype.itemsize == 2:
        expected, actual = expected.astype(np.float32), actual.astype(np.float32)
    if float(np.vdot(expected, expected)) < 1e30 and float(np.vdot(actual, actual)) < 1e30:
        gap = actual - expected
        # No element of `gap` is greater than its Euclidean norm. The square of a tiny atol would underflow.
        if atol > 1e-15 and float(np.vdot(gap, gap)) <= _SLACK * atol * atol:
            return True
        if expected.dtype.itemsize < 8:
            expected, actual = expected.astype(np.float64), actual.astype(np.float64)
        bound = np.abs(expected)
        bound *= rtol
        bound += atol
        return bool(np.count_nonzero(np.abs(actual - expected) <= bound) == expected.size)
    return not differing(expected, actual, rtol, atol).any()


def differing(expected: Values, actual: Values, rtol: float, atol: float) -> Values:
    """Return the mask of the elements for which ``|actual - expected| <= atol + rtol * |expected|`` is false.

    Complex numbers are measured by modulus; a real or imaginary part that is the same NaN or infinity on both sides
    counts as 0. Integers and booleans are compared exactly, whatever the tolerance.
    """
    if expected.dtype.kind not in "fc" and actual.dtype.kind not in "fc":
        expected, actual = _common(expected, actual)
        return np.asarray(expected != actual)
    with warnings_off():
        expected, actual = _subtractable(*_common(expected, actual))
        gap = np.abs(actual - expected)
        # If expected is infinite, so is the bound, and any gap would pass it.
        return np.asarray(~((gap <= atol + rtol * np.abs(expected)) & np.isfinite(gap)))


def distance(expected: Values, actual: Values) -> Values:
    """Return ``|actual - expected|`` as float64; infinite where a NaN or an infinity is on one side only."""
    with warnings_off():
        return _distance(expected, actual)


# The functions below whose names begin with an underscore expect that NumPy's warnings are turned off: for small arrays
# that takes longer than the arithmetic, so that each public function does it once.


def _distance(expected: Values, actual: Values) -> Values:
    expected, actual = _common(expected, actual)
    if expected.dtype.kind in "fc":
        expected, actual = _subtractable(expected, actual)
        gap = np.abs(actual - expected).astype(np.float64)
        return np.where(np.isnan(gap), np.inf, gap)
    if expected.dtype.kind == "O":
        return np.asarray(np.abs(actual - expected)).astype(np.float64)
    if expected.dtype.kind != "u":
        expected, actual = expected.astype(np.int64), actual.astype(np.int64)
    # The difference of two int64 may not fit in int64, but it fits in uint64, whose wrapped subtraction is right.
    low, high = np.minimum(expected, actual), np.maximum(expected, actual)
    return np.asarray(high.astype(np.uint64) - low.astype(np.uint64)).astype(np.float64)


@np.errstate(all="ignore")
def statistics(expected: Values, actual: Values, mask: Values, rtol: float, atol: float, dtype: str) -> Statistics:
    """Return the statistics of the differing elements.

    Args:
        expected, actual: the two arrays, of the same shape.
        mask: the differing elements, at least one.
        rtol, atol: the tolerances used, for the report.
        dtype: the framework's name of the expected dtype, in which ULPs are counted.
    """
    shown = expected, actual
    expected, actual = _common(expected, actual)
    absolute = _distance(expected, actual)
    relative = _relative(absolute, expected, actual)
    at, rel = _greatest(absolute, mask), _greatest(relative, mask)
    nonfinite = 0
    if expected.dtype.kind in "fc":
        subtractable = _subtractable(expected, actual)
        nonfinite = int(np.count_nonzero(mask & ~(np.isfinite(subtractable[0]) & np.isfinite(subtractable[1]))))
    return Statistics(
        mismatched=int(np.count_nonzero(mask)),
        total=int(mask.size),
        rtol=rtol,
        atol=atol,
        greatest_abs=float(absolute[at]),
        abs_index=at,
        abs_expected=shown[0][at].item(),
        abs_actual=shown[1][at].item(),
        greatest_rel=float(relative[rel]),
        rel_index=rel,
        ulps=_ulps(expected[mask], actual[mask], dtype),
        nonfinite=nonfinite,
        dtype=dtype,
    )


@np.errstate(all="ignore")
def passing_tolerance(expected: Values, actual: Values, atol: float) -> float:
    """Return the smallest `rtol` with which no element differs, for the given `atol`; infinite if there is none."""
    expected, actual = _common(expected, actual)
    if expected.dtype.kind not in "fc":
        return math.inf if differing(expected, actual, 0.0, atol).any() else 0.0
    excess = _distance(expected, actual) - atol
    needed = float(np.where(excess > 0, _relative(excess, expected, actual), 0.0).max(initial=0.0))
    # The division may round down, but the returned value must pass when a test uses it. The steps double, so that they
    # also get beyond the smallest floats, where a relative step is zero.
    step = max(needed * 2**-52, 5e-324)
    while math.isfinite(needed) and differing(expected, actual, needed, atol).any():
        needed += step
        step *= 2
    return needed


def ulps_apart(expected: Values, actual: Values, dtype: str) -> Values | None:
    """Return the distance between the two sides in representable values of `dtype`, as uint64.

    An infinity counts as the next value after the greatest finite one. Return None if `dtype` is not real floating.
    """
    kind = _FLOATS.get(dtype)
    if kind is None:
        return None
    one, other = _rank(expected, kind), _rank(actual, kind)
    # Subtracted with 64 bits, as two ranks of float64 may be further apart than a signed integer can tell.
    high, low = np.maximum(one, other).astype(np.int64), np.minimum(one, other).astype(np.int64)
    apart = high.view(np.uint64) - low.view(np.uint64)
    # bfloat16 is the upper half of float32.
    return np.asarray(apart >> np.uint64(16) if dtype == "bfloat16" else apart)


_FLOATS = {"float16": "f2", "bfloat16": "f4", "float32": "f4", "float64": "f8"}


def _rank(values: Values, kind: str) -> Values:
    """Return the rank of each float among all floats of `kind`, as integers of its size; both zeros have rank 0."""
    bits = values.astype(kind).view(kind.replace("f", "i"))
    # Floats are a sign and a magnitude: the sign bit alone, which is the smallest integer, is minus zero.
    return np.where(bits < 0, np.iinfo(bits.dtype).min - bits, bits)


def _ulps(expected: Values, actual: Values, dtype: str) -> int | None:
    if expected.dtype.kind != "f":
        return None
    greatest = None
    for start in range(0, expected.size, _AT_ONCE):  # ranks take many times the memory of the values
        one, other = expected[start : start + _AT_ONCE], actual[start : start + _AT_ONCE]
        finite = np.isfinite(one) & np.isfinite(other)
        apart = ulps_apart(one[finite], other[finite], dtype) if finite.any() else None
        if apart is not None:
            greatest = max(greatest or 0, int(apart.max()))
    return greatest


def _common(expected: Values, actual: Values) -> tuple[Values, Values]:
    """Return both arrays in one dtype. Their dtypes differ only if that was reported already or is not checked."""
    if expected.dtype == actual.dtype:
        return expected, actual
    exact = expected.dtype.kind in "biu" and actual.dtype.kind in "biu"
    common = np.result_type(expected, actual)
    if exact and common.kind not in "biu":
        # No NumPy integer dtype can represent both uint64 and int64, and float64 would round: use Python integers.
        common = np.dtype(object)
    return expected.astype(common), actual.astype(common)


def _subtractable(expected: Values, actual: Values) -> tuple[Values, Values]:
    """Return both arrays in a dtype wide enough for subtraction, with 0 where both have the same NaN or infinity."""
    if expected.dtype.kind == "c":
        wide = expected.astype(np.complex128), actual.astype(np.complex128)
        if not (np.isfinite(wide[0]).all() and np.isfinite(wide[1]).all()):
            wide[0].real, wide[1].real = _subtractable(wide[0].real, wide[1].real)
            wide[0].imag, wide[1].imag = _subtractable(wide[0].imag, wide[1].imag)
        return wide
    if expected.dtype.itemsize < 8:
        expected, actual = expected.astype(np.float64), actual.astype(np.float64)
    odd = ~np.isfinite(expected)
    if odd.any():
        same = odd & same_numbers(expected, actual)
        return np.where(same, 0.0, expected), np.where(same, 0.0, actual)
    return expected, actual


def same_array(one: Values, other: Values) -> bool:
    """Whether two arrays have the same shape and equal elements. NaN counts as equal to NaN."""
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))


def same_numbers(one: Values, other: Values) -> Values:
    """Return a mask of the equal elements. NaN counts as equal to NaN."""
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


def _relative(absolute: Values, expected: Values, actual: Values) -> Values:
    """Return ``absolute / |expected|``; infinite where the quotient is NaN or ``|expected|`` is 0."""
    size = _subtractable(expected, actual)[0] if expected.dtype.kind in "fc" else expected.astype(np.float64)
    relative = absolute / np.abs(size)
    return np.where(np.isnan(relative), np.inf, relative)


def _greatest(values: Values, mask: Values) -> tuple[int, ...]:
    return index_of_greatest(np.where(mask, values, -1.0))


def index_of_greatest(values: Values) -> tuple[int, ...]:
    """Return the index of the greatest of `values`, or of the first NaN."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(values)), values.shape))
