"""Two arrays of one shape, element by element.

Everywhere: NaN agrees with NaN, an infinity with the same infinity, minus zero with zero.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

Values = np.ndarray[Any, Any]

#: Arrays of up to this many bytes are compared by the route that has the least overhead a call.
_SMALL = 4096
#: So many elements are counted in units in the last place at once.
_AT_ONCE = 1 << 16
#: What rounding of the quick test itself may hide: sums of up to 1,024 float32 squares are off by less.
_SLACK = 0.98


@dataclasses.dataclass(frozen=True, slots=True)
class Statistics:
    """How two arrays of one shape differ. Indices are tuples, ``()`` for a scalar."""

    mismatched: int
    total: int
    rtol: float
    atol: float
    #: Among the mismatched elements; infinite where a NaN or an infinity is on one side only.
    greatest_abs: float
    abs_index: tuple[int, ...]
    abs_expected: Any
    abs_actual: Any
    #: ``|actual - expected| / |expected|``; infinite where expected is 0.
    greatest_rel: float
    rel_index: tuple[int, ...]
    #: Greatest distance in units in the last place of the expected dtype; None where that means nothing.
    ulps: int | None = None
    #: How many of the mismatched elements have a NaN or an infinity that the other side has not.
    nonfinite: int = 0
    dtype: str = ""


#: Below this many times atol / rtol the greatest number of a tensor is small, and atol is that share of it.
_SMALL_BELOW = 0.1
#: What is smaller is at the end of what single precision can hold, where some frameworks have zeros.
_LEAST = 1e-35


def is_small(expected: Values, actual: Values, rtol: float, atol: float) -> bool:
    """Whether `atol`, which is absolute, is much for numbers as small as these; quick where it is not."""
    if expected.dtype.kind != "f" or not expected.size or not rtol:
        return False
    limit = _SMALL_BELOW * atol / rtol
    if expected.dtype.itemsize > 2 and float(np.vdot(expected, expected)) >= limit * limit * expected.size:
        return False  # their mean is greater, and so is their greatest
    return _LEAST < _scale(expected, actual) < limit


def own_limits(expected: Values, actual: Values, rtol: float, atol: float) -> tuple[float, float]:
    """`rtol` and `atol` for numbers that are all small: they are held against the greatest of them, and not against 1.

    Small numbers of which one side has none at all, and the other nothing but zeros, are so told apart.
    """
    if not is_small(expected, actual, rtol, atol):
        return rtol, atol
    return rtol, rtol / _SMALL_BELOW * _scale(expected, actual)


@np.errstate(all="ignore")
def _scale(expected: Values, actual: Values) -> float:
    """The greatest magnitude that is expected, or, where nothing but zeros is, that there is."""
    return float(np.abs(expected).max(initial=0.0)) or float(np.abs(actual).max(initial=0.0))


def identical(expected: Values, actual: Values) -> bool:
    """Whether two arrays of one shape are equal and of one dtype, which needs no tolerance. False leaves it open."""
    if expected.dtype != actual.dtype:
        return False
    if expected.nbytes <= _SMALL:
        return expected.tobytes() == actual.tobytes()
    return bool(np.count_nonzero(expected == actual) == expected.size)


def agree(expected: Values, actual: Values, rtol: float, atol: float) -> bool:
    """Whether no element is `differing`; quick, because most pairs of a run that are not `identical` still agree."""
    if expected.dtype == actual.dtype and expected.dtype.kind == "f":
        if expected.nbytes <= _SMALL:
            return _close_small(expected, actual, rtol, atol)
        if expected.dtype.itemsize in (4, 8):
            with np.errstate(all="ignore"):
                gap = actual - expected
                greatest = max(float(gap.max()), -float(gap.min()))
            if greatest <= _SLACK * atol:
                return True
    return not differing(expected, actual, rtol, atol).any()


def _close_small(expected: Values, actual: Values, rtol: float, atol: float) -> bool:
    """`agree` for small arrays of real floats. `np.errstate` costs more than all of this, hence the detour:
    an inner product raises no floating-point flags, and a moderate one says that subtraction will raise none."""
    if expected.dtype.itemsize == 2:
        expected, actual = expected.astype(np.float32), actual.astype(np.float32)
    if float(np.vdot(expected, expected)) < 1e30 and float(np.vdot(actual, actual)) < 1e30:
        gap = actual - expected
        # No element of `gap` is greater than its Euclidean norm. A tiny atol would be lost in its square.
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
    """Mask of the elements that are not ``|actual - expected| <= atol + rtol * |expected|``.

    Complex numbers are measured by modulus, after those parts on whose NaN or infinity both sides agree.
    Integers and booleans are compared exactly, whatever the tolerance.
    """
    if expected.dtype.kind not in "fc" and actual.dtype.kind not in "fc":
        expected, actual = _common(expected, actual)
        return np.asarray(expected != actual)
    with np.errstate(all="ignore"):
        expected, actual = _settled(*_common(expected, actual))
        gap = np.abs(actual - expected)
        # Beside an infinity the bound is infinite too and would let anything pass.
        return np.asarray(~((gap <= atol + rtol * np.abs(expected)) & np.isfinite(gap)))


@np.errstate(all="ignore")
def distance(expected: Values, actual: Values) -> Values:
    """``|actual - expected|`` as float64; infinite where a NaN or an infinity is on one side only."""
    expected, actual = _common(expected, actual)
    if expected.dtype.kind in "fc":
        expected, actual = _settled(expected, actual)
        gap = np.abs(actual - expected).astype(np.float64)
        return np.where(np.isnan(gap), np.inf, gap)
    if expected.dtype.kind == "O":
        return np.asarray(np.abs(actual - expected)).astype(np.float64)
    if expected.dtype.kind != "u":
        expected, actual = expected.astype(np.int64), actual.astype(np.int64)
    # The difference of two int64 may not fit in one, but it does in uint64, where the wrapped one is right.
    low, high = np.minimum(expected, actual), np.maximum(expected, actual)
    return np.asarray(high.astype(np.uint64) - low.astype(np.uint64)).astype(np.float64)


@np.errstate(all="ignore")
def statistics(expected: Values, actual: Values, mask: Values, rtol: float, atol: float, dtype: str) -> Statistics:
    """What there is to say about the elements in `mask`, of which there is at least one.

    `dtype` is the framework's name of the expected dtype, in which ULPs are counted.
    """
    shown = expected, actual
    expected, actual = _common(expected, actual)
    absolute = distance(expected, actual)
    relative = _relative(absolute, expected, actual)
    at, rel = _greatest(absolute, mask), _greatest(relative, mask)
    nonfinite = 0
    if expected.dtype.kind in "fc":
        settled = _settled(expected, actual)
        nonfinite = int(np.count_nonzero(mask & ~(np.isfinite(settled[0]) & np.isfinite(settled[1]))))
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
    """The smallest `rtol` with which no element would differ, given `atol`; infinite when none would do."""
    expected, actual = _common(expected, actual)
    if expected.dtype.kind not in "fc":
        return math.inf if differing(expected, actual, 0.0, atol).any() else 0.0
    excess = distance(expected, actual) - atol
    needed = float(np.where(excess > 0, _relative(excess, expected, actual), 0.0).max(initial=0.0))
    # The division rounds, perhaps downwards: what is returned must pass when it is given to a test. Steps double, so
    # that they leave even the smallest floats, where a relative step is none.
    step = max(needed * 2**-52, 5e-324)
    while math.isfinite(needed) and differing(expected, actual, needed, atol).any():
        needed += step
        step *= 2
    return needed


@np.errstate(all="ignore")
def ulps_apart(expected: Values, actual: Values, dtype: str) -> Values | None:
    """How many representable values of `dtype` lie between the two sides, as uint64; None for other than real floats.

    What is not finite counts as the next value after the greatest finite one.
    """
    kind = _FLOATS.get(dtype)
    if kind is None:
        return None
    one, other = _position(expected, kind), _position(actual, kind)
    apart = np.maximum(one, other) - np.minimum(one, other)
    # bfloat16 is the upper half of float32.
    return np.asarray(apart >> np.uint64(16) if dtype == "bfloat16" else apart)


_FLOATS = {"float16": "f2", "bfloat16": "f4", "float32": "f4", "float64": "f8"}


def _position(values: Values, kind: str) -> Values:
    """Position of each float among all floats of `kind`, as uint64; zero and minus zero have the same one."""
    with np.errstate(all="ignore"):
        bits = values.astype(kind)
    whole = bits.view(kind.replace("f", "u")).astype(np.uint64)
    sign = np.uint64(1 << (8 * bits.dtype.itemsize - 1))
    middle = np.uint64(1 << 63)
    magnitude = whole & (sign - np.uint64(1))
    return np.asarray(np.where(whole & sign, middle - magnitude, middle + magnitude))


def _ulps(expected: Values, actual: Values, dtype: str) -> int | None:
    if expected.dtype.kind != "f":
        return None
    greatest = None
    for start in range(0, expected.size, _AT_ONCE):  # positions take many times the memory of what they are of
        one, other = expected[start : start + _AT_ONCE], actual[start : start + _AT_ONCE]
        finite = np.isfinite(one) & np.isfinite(other)
        apart = ulps_apart(one[finite], other[finite], dtype) if finite.any() else None
        if apart is not None:
            greatest = max(greatest or 0, int(apart.max()))
    return greatest


def _common(expected: Values, actual: Values) -> tuple[Values, Values]:
    """Both in one dtype. They differ only where the dtypes were found to differ, or were not to be compared."""
    if expected.dtype == actual.dtype:
        return expected, actual
    exact = expected.dtype.kind in "biu" and actual.dtype.kind in "biu"
    common = np.result_type(expected, actual)
    if exact and common.kind not in "biu":
        # No integer of NumPy's holds uint64 and int64, and its float64 would round: Python's hold both.
        common = np.dtype(object)
    return expected.astype(common), actual.astype(common)


def _settled(expected: Values, actual: Values) -> tuple[Values, Values]:
    """Both wide enough to be subtracted, and 0 in both where they have the same NaN or infinity."""
    if expected.dtype.kind == "c":
        wide = expected.astype(np.complex128), actual.astype(np.complex128)
        if not (np.isfinite(wide[0]).all() and np.isfinite(wide[1]).all()):
            wide[0].real, wide[1].real = _settled(wide[0].real, wide[1].real)
            wide[0].imag, wide[1].imag = _settled(wide[0].imag, wide[1].imag)
        return wide
    if expected.dtype.itemsize < 8:
        expected, actual = expected.astype(np.float64), actual.astype(np.float64)
    odd = ~np.isfinite(expected)
    if odd.any():
        same = odd & ((expected == actual) | (np.isnan(expected) & np.isnan(actual)))
        return np.where(same, 0.0, expected), np.where(same, 0.0, actual)
    return expected, actual


def _relative(absolute: Values, expected: Values, actual: Values) -> Values:
    """`absolute` in units of ``|expected|``; infinite where that is 0, NaN or infinite."""
    with np.errstate(all="ignore"):
        size = _settled(expected, actual)[0] if expected.dtype.kind in "fc" else expected.astype(np.float64)
        relative = absolute / np.abs(size)
    return np.where(np.isnan(relative), np.inf, relative)


def _greatest(values: Values, mask: Values) -> tuple[int, ...]:
    flat = int(np.argmax(np.where(mask, values, -1.0)))
    return tuple(int(i) for i in np.unravel_index(flat, values.shape))
