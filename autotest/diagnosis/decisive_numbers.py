"""Finds the numbers in one input that a failure needs: NaN, zero, a sign, a magnitude, equal numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from autotest.program import Array

Numbers = np.ndarray[Any, Any]
#: How a program ends: it fails in the same way, the sides agree, or neither, for example if the reference rejects it.
ProgramOutcome: TypeAlias = Literal["fails", "passes", "neither"]
#: A function that runs the failing program on other numbers and returns how it ends.
OnNumbers: TypeAlias = Callable[[Numbers], ProgramOutcome]

#: Ordinary numbers that replace other ones.
_ORDINARY = (1.0, 0.5, 2.5, -3.0)
#: The number of steps of a bisection: enough for two digits.
_STEPS = 8
#: Factors that numbers are multiplied by to find out whether the failure needs their magnitude.
_SMALLER, _GREATER = (0.5, 0.1, 1e-2, 1e-4, 1e-8, 1e-16, 1e-24), (2.0, 10.0, 1000.0)
#: The smallest magnitude that is tried: smaller numbers may pass only because of the tolerance.
_LEAST = 0.05
#: A finite number that is tried in the place of an infinity.
_GREAT = 1e4
#: The greatest upper bound of a magnitude that is reported: greater numbers may pass only because a function overflows.
_NEAR = 20.0


def number_clauses(array: Array, name: str, run: OnNumbers, *, special_only: bool) -> Iterator[str]:
    """Yield the clauses on the numbers in one input that the failure needs.

    Args:
        array: the input's array.
        name: the name of the input, if there are several; else "".
        run: runs the program on other numbers in this input.
        special_only: whether only NaN and infinities are tested.
    """
    data = array.data
    if not data.size or data.dtype.kind not in "fiu":
        return
    element = f"an element of {name}" if name else "an element"
    with np.errstate(all="ignore"):
        found = _special(data, run)
        if special_only:
            found = found if found in ("NaN", "infinite") else ""
        else:
            found = found or _extreme(data, run) or _magnitude(data, run) or _ordinary(data, run)
        if found:
            yield f"only where {element} is {found}"
        elif data.size > 1 and not special_only and _equal(data, run):
            yield f"only where elements{f' of {name}' if name else ''} are equal"


def _passes(variants: Sequence[Numbers], run: OnNumbers) -> bool:
    """Whether at least one of `variants` passes and none fails; those that cannot be run are ignored."""
    endings = [run(one) for one in variants]
    return "passes" in endings and "fails" not in endings


def _without(data: Numbers, gone: Numbers, instead: Sequence[float]) -> list[Numbers]:
    return [np.where(gone, np.asarray(one, data.dtype), data) for one in instead]


def _special(data: Numbers, run: OnNumbers) -> str:
    if data.dtype.kind != "f":
        return ""
    tiny = np.finfo(data.dtype).tiny
    kinds = (
        ("NaN", np.isnan(data), _ORDINARY),
        ("infinite", np.isinf(data), _ORDINARY),
        ("subnormal", (np.abs(data) < tiny) & (data != 0), _ORDINARY),
        ("-0.0", (data == 0) & np.signbit(data), (0.0,)),
    )
    for text, there, instead in kinds:
        if there.any() and _passes(_without(data, there, instead), run):
            return _infinite(data, run) if text == "infinite" else text
    zero = data == 0
    if not zero.any() or not _passes(_without(data, zero, _ORDINARY), run):
        return ""
    return "near zero" if run(_without(data, zero, (1e-3,))[0]) == "fails" else "zero"


def _infinite(data: Numbers, run: OnNumbers) -> str:
    """Return the numbers that a failure at an infinity needs: great ones of its sign, if these fail, too."""
    infinite = np.isinf(data)

    def at(magnitude: float) -> Numbers:
        return np.where(infinite, np.copysign(magnitude, data), data).astype(data.dtype)

    if run(at(_GREAT)) != "fails":
        return "infinite"
    sign = "-" if (data[infinite] < 0).all() else "+" if (data[infinite] > 0).all() else ""
    least = _GREAT * _edge(_LEAST / _GREAT, 1.0, lambda factor: at(factor * _GREAT), run)
    return _between(least, None, sign)


def _extreme(data: Numbers, run: OnNumbers) -> str:
    if data.dtype.kind == "f":
        return ""
    limits = np.iinfo(data.dtype)
    for text, edge in (("the smallest integer", limits.min), ("the largest integer", limits.max)):
        if (data == edge).any() and edge and _passes(_without(data, data == edge, (1, 2, 5)), run):
            return f"{text} of {data.dtype}"
    return "zero" if (data == 0).any() and _passes(_without(data, data == 0, (1, 2, 5)), run) else ""


def _magnitude(data: Numbers, run: OnNumbers) -> str:
    """Return the range of magnitudes that fail, in words; "" if no multiple of the numbers passes."""
    finite = np.where(np.isfinite(data), data, 0)
    place = int(np.argmax(np.abs(finite)))
    greatest = float(finite.reshape(-1)[place])
    if not greatest or (data.dtype.kind in "iu" and abs(greatest) < 3):
        return ""

    def scaled(factor: float) -> Numbers:
        return np.asarray(np.trunc(data * factor) if data.dtype.kind in "iu" else data * factor).astype(data.dtype)

    reaching = [factor for factor in _SMALLER if abs(greatest) * factor >= _LEAST]
    lower = next((factor for factor in reaching if run(scaled(factor)) == "passes"), None)
    reaching = [factor for factor in _GREATER if np.isfinite(data * factor).all() and _held(data, factor)]
    upper = next((factor for factor in reaching if run(scaled(factor)) == "passes"), None)
    sign = "" if _fails_negated(data, run) else "-" if greatest < 0 else "+"
    least = None if lower is None else abs(greatest) * _edge(lower, 1.0, scaled, run)
    most = None if upper is None else abs(greatest) * _edge(upper, 1.0, scaled, run)
    if least is None and (most is None or most > _NEAR):
        return ""
    if least is not None and most is not None and most < 1.02 * least:
        return f"{greatest:.6g}"
    return _between(least, most, sign)


def _held(data: Numbers, factor: float) -> bool:
    if data.dtype.kind == "f":
        return True
    limits = np.iinfo(data.dtype)
    return bool(limits.min <= data.min() * factor and data.max() * factor <= limits.max)


def _fails_negated(data: Numbers, run: OnNumbers) -> bool:
    return data.dtype.kind != "u" and run(-data) == "fails"


def _edge(passing: float, failing: float, scaled: Callable[[float], Numbers], run: OnNumbers) -> float:
    """Return the factor between `passing` and `failing` at which the program begins to fail, by bisection."""
    for _ in range(_STEPS):
        middle = math.sqrt(passing * failing)
        if run(scaled(middle)) == "fails":
            failing = middle
        else:
            passing = middle
    return math.sqrt(passing * failing)


def _between(least: float | None, most: float | None, sign: str) -> str:
    """Return the range of failing numbers in words."""
    low, high = (None if edge is None else f"{float(f'{edge:.2g}'):g}" for edge in (least, most))
    if low is None:
        return f"closer to zero than about {high}"
    if sign == "":
        return f"greater than about {low} in magnitude" if high is None else f"of magnitude {low} to {high}"
    if high is None:
        return f"above about {low}" if sign == "+" else f"below about -{low}"
    return f"from about {low} to {high}" if sign == "+" else f"from about -{high} to -{low}"


def _ordinary(data: Numbers, run: OnNumbers) -> str:
    negative = data < 0
    least = data.min()
    above = (
        [data - least + one for one in (1, 2)] if np.isfinite(least) and least <= 0 else []
    )  # shifted, so that their differences stay the same
    if negative.any() and _passes([np.abs(data), *_without(data, negative, (1, 2, 5)), *above], run):
        return "negative"
    if (data <= 0).any() and _passes([*_without(data, data <= 0, (1, 2, 5)), *above], run):
        return "zero or negative"
    fractions = data.dtype.kind == "f" and np.isfinite(data).all() and (data != np.rint(data)).any()
    if fractions and _passes([np.floor(data), np.ceil(data)], run):
        return "not a whole number"
    return ""


def _equal(data: Numbers, run: OnNumbers) -> bool:
    """Whether the failure needs equal numbers: neither rising, nor falling, nor mixed numbers show it."""
    count = data.size
    if len(np.unique(data)) == count or count > 1000:
        return False
    rising = 1 + np.arange(count)
    mixed = np.argsort(np.cos(rising * 2.3)) + 1
    step = 1 if data.dtype.kind in "iu" else 0.75
    return _passes(
        [(order * step).reshape(data.shape).astype(data.dtype) for order in (rising, -rising + count + 1, mixed)], run
    )
