"""Finds the numbers in one input that a failure needs: NaN, zero, a sign, a magnitude, equal numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from autotest.diagnosis.explaining.decisive_magnitudes import around_zero, infinite, magnitude, small_numbers
from autotest.diagnosis.explaining.outcomes import NumberClaim, Numbers, OnNumbers, ending_of, holdable, larger_matrix
from autotest.program import Array

#: Ordinary numbers that replace other ones.
_ORDINARY = (1.0, 0.5, 2.5, -3.0, 8.0)
#: Whole numbers that do so.
_WHOLE = (1, 2, 5)
#: Odd numbers that are added to even ones: the last digit of the sum is lost in half and in single precision.
_LONG = (2049, 2**24 + 1)
#: What fractions are multiplied by for whole numbers with some of their digits.
_LARGER = 1000
#: What is added to whole numbers, or taken away from them.
_PARTS = (0.5, 0.25, -0.375)
#: How many times their number great whole numbers are at least: different ones of about their magnitude are tried.
_FAR = 10
#: A number that no failure near zero needs.
_FAR_FROM_ZERO = 100.0
#: How many units in the last place numbers that are barely different lie apart.
_BARELY = 8
#: The claims about numbers that are not finite.
_NEITHER_FINITE = "NaN or infinite"
_NOT_FINITE = frozenset(("NaN", "infinite", "+infinity", "-infinity", _NEITHER_FINITE))
#: The claims about special numbers that hold for their negatives, too.
_OF_EITHER_SIGN = frozenset(("NaN", "infinite", "subnormal", _NEITHER_FINITE))


def number_claim(
    array: Array,
    run: OnNumbers,
    *,
    special_only: bool,
    fails_elsewhere: Callable[[Sequence[Numbers]], bool] = lambda contents: False,
) -> NumberClaim | None:
    """Return what an element of one input must be for the failure, or None.

    Args:
        array: the input's array.
        run: runs the program on other numbers in this input.
        special_only: whether only NaN and infinities are tested.
        fails_elsewhere: returns whether the program fails on some contents of this input once other numbers of it, such
            as arguments, have changed, too.
    """
    data = array.data
    if not data.size or data.dtype.kind not in "fiu":
        return None
    with np.errstate(all="ignore"):
        for search in (_special, *(() if special_only else (_extreme, magnitude, _ordinary))):
            found = search(data, run)
            if found and not fails_elsewhere(found.without):
                return None if special_only and found.text not in _NOT_FINITE else found
    return None


def needs_equal_elements(array: Array, run: OnNumbers) -> bool:
    """Whether the failure needs equal numbers: neither rising, nor falling, nor mixed numbers show it."""
    data, count = array.data, array.data.size
    if data.dtype.kind not in "fiu" or not 1 < count <= 1000 or len(np.unique(data)) == count:
        return False
    rising = 1 + np.arange(count)
    mixed = np.argsort(np.cos(rising * 2.3)) + 1
    step = 1 if data.dtype.kind in "iu" else 0.75
    orders = [order * step for order in (rising, -rising + count + 1, mixed)]
    if holdable([count * count * step], data.dtype):  # the middle one of evenly spaced numbers is their mean
        orders += [order * order * step for order in (rising, mixed)]
    greatest = float(data.reshape(-1)[np.argmax(np.abs(data))])
    if data.dtype.kind in "iu" and abs(greatest) > _FAR * count:
        orders += [greatest - math.copysign(1, greatest) * order for order in (rising, mixed)]
    if data.dtype.kind == "f" and 0 < abs(greatest) < math.inf:  # the failure may need their magnitude
        orders += [greatest * (1 - order / (_FAR * count)) for order in (rising, mixed)]
    if data.dtype.kind == "f" and np.isfinite(greatest):  # or that they are close to each other
        step = _BARELY * float(np.finfo(data.dtype).eps)
        orders += [greatest + order * step * (abs(greatest) or 1) for order in (rising, mixed)]
    return ending_of([order.reshape(data.shape).astype(data.dtype) for order in orders], run) == "passes"


def _claim(text: str, without: Sequence[Numbers], run: OnNumbers) -> NumberClaim | None:
    """Return the claim `text` if `without` passes."""
    return NumberClaim(text, without) if ending_of(without, run) == "passes" else None


def _without(data: Numbers, gone: Numbers, instead: Sequence[float]) -> list[Numbers]:
    return [np.where(gone, np.asarray(one, data.dtype), data) for one in holdable(instead, data.dtype)]


def _special(data: Numbers, run: OnNumbers) -> NumberClaim | None:
    if data.dtype.kind != "f":
        return None
    tiny = np.finfo(data.dtype).tiny
    kinds = (
        ("NaN", np.isnan(data), (*_ORDINARY, _FAR_FROM_ZERO, -_FAR_FROM_ZERO)),
        ("infinite", np.isinf(data), _ORDINARY),
        ("subnormal", (np.abs(data) < tiny) & (data != 0), (*_ORDINARY, *small_numbers(data.dtype))),
        ("-0.0", (data == 0) & np.signbit(data), (0.0, *_ORDINARY)),
    )
    for text, there, instead in kinds:
        found = _claim(text, _without(data, there, instead), run) if there.any() else None
        if found:
            told, passing = infinite(data, run) if text == "infinite" else (text, [])
            alike = {"NaN": (math.inf, -math.inf), "infinite": (math.nan,)}.get(text, ())
            if ending_of([np.where(there, np.asarray(one, data.dtype), data) for one in alike], run) == "fails":
                told, passing = _NEITHER_FINITE, []
            return NumberClaim(told, [*found.without, *passing], either_sign=told in _OF_EITHER_SIGN)
    zero = data == 0
    others = [*_without(data, zero, _ORDINARY), *larger_matrix(data, 1)]
    far = np.full_like(np.atleast_1d(data), _FAR_FROM_ZERO)
    others.append(np.concatenate([far, -far], axis=-1))  # numbers whose sum is zero
    found = _claim("zero", others, run) if zero.any() else None
    return found and NumberClaim(around_zero(data, run), found.without, either_sign=True)


def _extreme(data: Numbers, run: OnNumbers) -> NumberClaim | None:
    if data.dtype.kind == "f":
        return None
    limits = np.iinfo(data.dtype)
    ends = (("the smallest integer", limits.min), ("the largest integer", limits.max))
    edges = [(f"{text} of {data.dtype}", edge) for text, edge in ends if edge]
    for text, edge in (*edges, ("zero", 0)):
        there = data == edge
        # An operator that is wrong at an end of the range may be so far from it, too.
        far = [edge - edge // more for more in (abs(edge), 4, 2) if edge]
        without = [*_without(data, there, (*_WHOLE, -1, -3, *far)), *_of_equal(data, far)]
        found = _claim(text, without, run) if there.any() else None
        if found:
            return found
    return None


def _of_equal(data: Numbers, numbers: Sequence[float]) -> list[Numbers]:
    """Return arrays with one of `numbers` everywhere: of several elements, the sum may go beyond the range."""
    return [np.full_like(data, one) for one in numbers] if data.size > 1 else []


def _ordinary(data: Numbers, run: OnNumbers) -> NumberClaim | None:
    negative, least = data < 0, data.min()
    shifted = np.isfinite(least) and least <= 0  # their differences stay the same, or also what follows the point
    above = [data + shift for shift in (1 - least, 2 - least, np.ceil(-least), 1 + np.ceil(-least))] if shifted else []
    above = [one.astype(data.dtype) for one in above if (one > 0).all()]
    positive = (*_WHOLE, *(small_numbers(data.dtype) if data.dtype.kind == "f" else ()))
    if negative.any():
        without = [np.abs(data), *_without(data, negative, (*positive, 0)), *above]
        found = _claim("negative", without, run)
        if found:
            return found
    if (data <= 0).any():
        turned = [np.where(data == 0, np.asarray(1, data.dtype), np.abs(data))]
        found = _claim("zero or negative", [*turned, *_without(data, data <= 0, positive), *above], run)
        if found:
            return found
    if data.dtype.kind != "f" or not np.isfinite(data).all():
        return None
    rising = (1 + np.arange(data.size)).reshape(data.shape).astype(data.dtype)
    if (data == np.rint(data)).all():
        beside = [one + part for one in (data, rising, -rising) for part in _PARTS]
        wholes = np.where(data == 0, 1, data)
        beside.append(wholes * 2.0 ** -np.floor(1 + np.log2(np.abs(wholes).max())))  # with the same digits
        row = np.atleast_1d(data)
        beside.append(np.concatenate([row - 0.5, row + 0.5], axis=-1))  # the mean is whole
        return _claim("a whole number", [one.astype(data.dtype) for one in beside], run)
    # All numbers may have the same whole part, and equal ones hide what an operator confuses.
    whole = [np.floor(data), np.ceil(data), rising, -rising]
    whole += [2 * np.floor(data) + one for one in holdable(_LONG, data.dtype)]
    whole += [np.rint(data * _LARGER)]  # as close to each other as they were
    return _claim("not a whole number", whole, run)
