"""Finds the range of the numbers in one input that a failure needs: great ones, small ones, a single one."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autotest.diagnosis.explaining.outcomes import (
    NumberClaim,
    Numbers,
    OnNumbers,
    ProgramOutcome,
    ending_of,
    holdable,
    larger_matrix,
)

#: The least number of steps of a bisection, and the ratio of its ends at which it stops: enough for two digits.
_STEPS, _NARROW = 8, 1.02
#: Factors that numbers are multiplied by to find out whether the failure needs their magnitude.
_SMALLER, _GREATER = (0.5, 0.1, 1e-2, 1e-4, 1e-8, 1e-16, 1e-24), (2.0, 10.0, 1000.0)
#: Factors of a bound that lead out of a range, with mantissas of all kinds: multiples of one number by powers of two
#: and ten are all exact in a narrower dtype, if that number is.
_BELOW = (0.93, 0.86, 0.77, 0.68, 0.61, 0.52, 0.43, 0.37, 0.31, 0.23)
_ABOVE = (1.07, 1.19, 1.31, 1.47, 1.61, 1.83, 2.3, 3.1, 4.7)
#: Factors of the numbers themselves that may lead out of a range: a failure may need powers of two.
_MULTIPLES = (0.25, 0.5, 2.0, 4.0)
#: How many copies of smaller numbers are tried: a failure may need that the sum or the product of all is great.
_COPIES = 8
#: What is added to numbers: others like them, such as 0.5 and 2.5, may be far from their multiples.
_SHIFTS = (1.0, 2.0, -1.0, -2.0)
#: How far from a bound, which is known to two digits, a number is certainly on one side of it.
_SLACK = 1.04
#: The smallest magnitude that is tried: smaller numbers may pass only because of the tolerance.
_LEAST = 0.05
#: A finite number that is tried in the place of an infinity.
_GREAT = 1e4
#: Relative distances from a number at which neighbours are tried, to find out whether only this one fails.
_BESIDE = (1e-3, 1e-5)
#: The greatest bound of integers that is told exactly.
_SMALL_INTEGER = 64
#: The ratio from which on the limits of positive and of negative numbers are different ones.
_UNLIKE = 1.25
#: How much of the greatest number of a dtype is tried in the place of an infinity: all of it overflows in any operator.
_MOST = 0.9
#: The greatest upper bound of a magnitude that is reported: greater numbers may pass only because a function overflows.
_NEAR = 20.0

#: How many times a range around zero is made wider because a number beyond it fails, too.
_WIDER = 6

#: A small number, and how many times the smallest normal number of a dtype counts as a tiny one.
_SMALL, _TIMES_TINY = 1e-3, 4.0
#: The magnitude at which a failure around zero ends: ordinary numbers of about this one pass before it is tried.
_PASSING = 3.0

_AtFactor = Callable[[float], ProgramOutcome]


@dataclasses.dataclass(frozen=True, slots=True)
class _Range:
    """A range of magnitudes, in one sign or in both (`sign` is "")."""

    least: float | None
    most: float | None
    sign: str

    def holds(self, data: Numbers) -> Numbers:
        """Return for each element of `data` whether it lies in this range or at its edge."""
        size = np.asarray(data, np.float64)
        if not self.sign:
            size = np.abs(size)
        elif self.sign == "-":
            size = -size
        inside = np.ones(size.shape, bool)
        if self.least is not None or self.sign:
            inside &= size >= (self.least or 0) / _SLACK
        if self.most is not None:
            inside &= size <= self.most * _SLACK
        return np.asarray(inside | np.isnan(size))

    def __str__(self) -> str:
        low, high = (None if edge is None else f"{float(f'{edge:.2g}'):g}" for edge in (self.least, self.most))
        if low is None:
            return f"closer to zero than about {high}{' and negative' if self.sign == '-' else ''}"
        if self.sign == "":
            return f"greater than about {low} in magnitude" if high is None else f"of magnitude {low} to {high}"
        if high is None:
            return f"above about {low}" if self.sign == "+" else f"below about -{low}"
        return f"from about {low} to {high}" if self.sign == "+" else f"from about -{high} to -{low}"


def infinite(data: Numbers, run: OnNumbers) -> tuple[str, list[Numbers]]:
    """Return the numbers that a failure at an infinity needs, and the contents with the other infinity if that passes.

    These are great numbers of its sign, if they fail, too.
    """
    for superfluous in (-np.inf, np.inf):  # if both stand there and one of them is enough, that one decides
        without = np.where(data == superfluous, np.asarray(1, data.dtype), data)
        if (data == superfluous).any() and np.isinf(without).any() and run(without) == "fails":
            return infinite(without, run)
    there = np.isinf(data)
    other = np.where(there, -data, data)

    def at(magnitude: float) -> Numbers:
        return np.where(there, np.copysign(magnitude, data), data).astype(data.dtype)

    greatest = _MOST * float(np.finfo(data.dtype).max)
    if run(at(_GREAT)) == "fails":
        passing, failing = _LEAST, _GREAT
    elif run(at(greatest)) == "fails":
        passing, failing = _GREAT, greatest
    elif run(other) == "passes" and len(np.unique(data[there])) == 1:
        return f"{'-' if data[there][0] < 0 else '+'}infinity", [other]
    else:
        return "infinite", []
    least = failing * _edge(passing / failing, lambda factor: run(at(factor * failing)))
    either = run(np.where(there, -at(failing), data)) == "fails"
    sign = "" if either else "-" if (data[there] < 0).all() else "+" if (data[there] > 0).all() else ""
    return str(_Range(least, None, sign)), []


def around_zero(data: Numbers, run: OnNumbers) -> str:
    """Return how near to zero numbers must be for a failure at zero: "zero", if no other number fails."""
    zero = data == 0

    def at(value: float) -> ProgramOutcome:
        return ending_of([np.where(zero, np.asarray(one, data.dtype), data) for one in (value, -value)], run)

    small, tiny = small_numbers(data.dtype)
    if at(small) == "fails":
        return str(_Range(None, small * _edge(_PASSING / small, lambda factor: at(factor * small)), ""))
    if at(tiny) == "fails":
        return "near zero"
    return "zero or subnormal" if at(tiny / _TIMES_TINY / 2) == "fails" else "zero"


def small_numbers(dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return a small positive number and a tiny one of the floating `dtype`."""
    return _SMALL, _TIMES_TINY * float(np.finfo(dtype).tiny)


def magnitude(data: Numbers, run: OnNumbers) -> NumberClaim | None:
    """Return the range of magnitudes that fail; None if no multiple of the numbers passes, or a number beyond fails."""
    finite = np.where(np.isfinite(data), data, 0)
    place = int(np.argmax(np.abs(finite)))
    greatest = float(finite.reshape(-1)[place])
    if not greatest or (data.dtype.kind in "iu" and abs(greatest) < 3):
        return None
    fails_negated = data.dtype.kind != "u" and run(-data) == "fails"

    def at(factor: float) -> ProgramOutcome:
        scaled = _scaled(data, factor)
        return ending_of([*scaled, *(-one for one in scaled if fails_negated)], run)

    reaching = [factor for factor in _SMALLER if abs(greatest) * factor >= _LEAST]
    lower = next((factor for factor in reaching if at(factor) == "passes"), None)
    greater = (*_GREATER, _PASSING / abs(greatest)) if _GREATER[-1] * abs(greatest) < _LEAST else _GREATER
    reaching = [factor for factor in greater if np.isfinite(data * factor).all() and _stays_in_range(data, factor)]
    upper = next((factor for factor in reaching if at(factor) == "passes"), None)
    sign = "" if fails_negated else "-" if greatest < 0 else "+"
    least = None if lower is None else abs(greatest) * _edge(lower, at)
    most = None if upper is None else abs(greatest) * _edge(upper, at)
    if least is None:
        most = _widened(most, lambda bound: at(bound / abs(greatest)))
        if most is None:
            return None
    found, text, exact = _Range(least, most, sign), "", False
    if fails_negated and least is not None and (most is None or most > _UNLIKE**2 * least):
        above = _scaled(data, _UNLIKE * least / abs(greatest))[:1]
        if any(run(one) != "fails" or run(-one) != "fails" for one in above):
            return None  # the two signs have different limits
    if least is not None and most is not None and most < 1.02 * least:
        whole = int(data.reshape(-1)[place]) if data.dtype.kind in "iu" else None
        number = f"{greatest:.6g}" if whole is None else str(whole)
        text, exact = number if sign else f"of magnitude {number.removeprefix('-')}", True
        if data.dtype.kind == "f" and "fails" in [at(1 + beside) for one in _BESIDE for beside in (one, -one)]:
            text, exact = f"about {greatest:.3g}" if sign else f"of magnitude about {abs(greatest):.3g}", False
    holds = _is(abs(greatest)) if exact else found.holds
    outside = [one for one in _beyond(data, abs(greatest), found) if not holds(one).any()]
    if ending_of(outside, run) == "fails":
        return None
    passed = [variant for factor in (lower, upper) if factor is not None for variant in _scaled(data, factor)]
    opposite = [-data] if sign and data.dtype.kind != "u" else []
    whole_text = _whole(data, found, run)
    if whole_text is None:
        return None
    # The first number outside is close to the range.
    return NumberClaim(whole_text or text or str(found), [*outside[:1], *opposite, *passed], not sign, holds)


def _widened(most: float | None, at: _AtFactor) -> float | None:
    """Return an end of a range around zero beyond which no number fails that is tried; None if it is too far away.

    Where a failure is one of few digits, one number fails near the end of the range, and a smaller one does not.
    """
    for _ in range(_WIDER):
        if most is None or most > _NEAR:
            return None
        beyond = [factor * most for factor in _ABOVE if at(factor * most) == "fails"]
        if not beyond:
            return most
        most = max(beyond)
    return None


def _whole(data: Numbers, found: _Range, run: OnNumbers) -> str | None:
    """Return the range `found` of small integers in whole numbers; "" for others, or if its ends do not show.

    The number with the greatest magnitude is varied. The result is None if a smaller one than that needs to be fails
    beside other numbers: indices that differ may be all that is needed.
    """
    least, most = found.least, found.most
    if data.dtype.kind not in "iu" or least is None or max(least, most or 0) > _SMALL_INTEGER:
        return ""
    size = np.abs(data.astype(np.int64))
    greatest, sign = int(size.max()), -1 if data.reshape(-1)[int(np.argmax(size))] < 0 else 1

    def fails(number: int) -> bool:
        other = np.where(size == greatest, sign * number, data)
        return bool(holdable([float(other.min()), float(other.max())], data.dtype)) and (
            run(other.astype(data.dtype)) == "fails"
        )

    near = range(max(round(least) - 2, 1), round(least) + 3)
    first = next((one for one in near if fails(one) and not fails(one - 1)), None)
    if first is None:
        return ""
    smaller = np.asarray(data.astype(np.int64) * (first - 1) // greatest)
    if run(smaller.astype(data.dtype)) == "fails":
        return None
    low = sign * first if found.sign else first
    of = "" if found.sign else "of magnitude "
    if most is None:
        return f"at least {low} in magnitude" if not found.sign else f"at {'most' if sign < 0 else 'least'} {low}"
    last = next((one for one in range(round(most) + 2, first - 1, -1) if fails(one) and not fails(one + 1)), None)
    if last is None or last == first:
        return "" if last is None else f"{of}{low}"
    high = sign * last if found.sign else last
    return f"{of}{min(low, high)} to {max(low, high)}" if of else f"from {min(low, high)} to {max(low, high)}"


def _is(magnitude: float) -> Callable[[Numbers], Numbers]:
    return lambda data: np.asarray(np.abs(data) == magnitude)


def _scaled(data: Numbers, factor: float) -> list[Numbers]:
    """Return `data` multiplied by `factor`; of integers, also the nearest odd ones, which need all of their digits."""
    if data.dtype.kind == "f":
        return [np.asarray(data * factor).astype(data.dtype)]
    whole = np.asarray(np.trunc(data * factor)).astype(data.dtype)
    return [whole, np.where(whole != 0, whole | 1, whole).astype(data.dtype)]


def _beyond(data: Numbers, greatest: float, found: _Range) -> Iterator[Numbers]:
    """Yield numbers like `data`, most of them outside of the range `found`."""
    for bound, factors in ((found.least, _BELOW), (found.most, _ABOVE)):
        for factor in [] if bound is None else [one * bound / greatest for one in factors]:
            if np.isfinite(data * factor).all() and _stays_in_range(data, factor):
                yield from _scaled(data, factor)
                if data.size > 1 and data.dtype.kind != "f":  # of several integers, the sum may go beyond the range
                    yield np.full_like(data, int(greatest * factor))
    yield from larger_matrix(data, _PASSING)
    for factor in _MULTIPLES:
        if np.isfinite(data * factor).all() and _stays_in_range(data, factor):
            yield from _scaled(data, factor)
    if found.least is not None:
        copies = np.concatenate([np.atleast_1d(data)] * _COPIES)
        yield from _scaled(copies, 2 / _COPIES * found.least / greatest)  # with a greater sum than the one that fails
        if data.dtype.kind != "f" and found.least > 1:  # with a greater product
            yield np.full(2 * data.size, math.ceil(found.least) - 1, data.dtype)
        if data.dtype.kind == "f":  # with the same product
            yield np.copysign(np.abs(copies) ** (1 / _COPIES), copies).astype(data.dtype)
        almost = _BELOW[0] * found.least
        yield from _scaled(copies, almost / greatest)  # with a greater sum of squares
        if data.dtype.kind != "u" and data.size > 1:  # the greatest and the least number are further apart
            signs = 1 - 2 * (np.arange(data.size) % 2).reshape(data.shape)
            yield (almost * signs).astype(data.dtype)
    if found.most is not None and data.dtype.kind == "f" and data.size > 1:  # as close to each other as they were
        yield (data + (_ABOVE[0] * found.most - float(data.min()))).astype(data.dtype)
    wide = data if data.dtype.kind == "f" else data.astype(np.int64)  # an unsigned dtype does not hold -1
    for shift in _SHIFTS:
        if len(holdable([float(data.min()) + shift, float(data.max()) + shift], data.dtype)) == 2:
            yield (wide + np.asarray(shift, wide.dtype)).astype(data.dtype)


def _stays_in_range(data: Numbers, factor: float) -> bool:
    if data.dtype.kind == "f":
        return True
    limits = np.iinfo(data.dtype)
    return bool(limits.min <= data.min() * factor and data.max() * factor <= limits.max)


def _edge(passing: float, at: _AtFactor) -> float:
    """Return the factor between `passing` and 1, which fails, at which the program begins to fail, by bisection."""
    failing = 1.0
    steps = max(_STEPS, math.ceil(math.log2(abs(math.log(passing)) / math.log(_NARROW))))
    for _ in range(steps):
        middle = math.sqrt(passing) * math.sqrt(failing)  # the product may overflow or underflow
        if at(middle) == "fails":
            failing = middle
        else:
            passing = middle
    return math.sqrt(passing) * math.sqrt(failing)
