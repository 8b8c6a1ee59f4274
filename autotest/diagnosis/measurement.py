"""Holds both sides of a result against double precision, and says how many elements rounding does not explain.

What rounding explains of an element is
``u * (4 + 2 * sqrt(n)) * |truth| + 6 * sqrt(n) * spread``, where u is the unit roundoff of its dtype, n how many
numbers are added up in it at most, and spread by how much it moves when the inputs move by one roundoff (the
probabilistic bound of Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019, with the condition measured and not
derived). An element that only one or two inputs reach has n = 2.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from autotest.comparison.elementwise import Values, distance
from autotest.diagnosis.roundoff import NARROW, ROUNDOFF, TINY

_GREATEST = float(np.finfo(np.float64).max)
#: How many roundoffs a roundoff of the inputs may become before a result is called ill-conditioned.
_AMPLIFIED = 1000.0
#: What part of a number may be lost in single precision where torch's own loses none that rounding does not explain:
#: more than half of its digits are none of rounding's.
_DIGITS = 1e-3
#: What part of their difference two sides may keep in double precision, where it is to be one of precision.
_KEPT = 0.01


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """The two sides against double precision, at the elements that mismatched."""

    #: Mismatched elements that are beyond what rounding explains, of the reference and of the candidate.
    wrong: tuple[int, int]
    total: int
    #: Index of the worst element; the truth there, what either side has, and what rounding explains.
    index: tuple[int, ...]
    truth: float
    values: tuple[Any, Any]
    errors: tuple[float, float]
    allowed: float
    #: In double precision the two sides are this far apart at most, where this much is rounding.
    wide_gap: float
    wide_allowed: float
    #: How many roundoffs of the result one roundoff of the inputs makes, at the worst element.
    amplification: float
    #: Whether few inputs reach the worst element, so that nothing great can have cancelled in it.
    few: bool = False
    #: Whether what differs at the worst element stays in double precision, which then is heard after everybody else.
    stays: bool = False
    #: The greatest magnitude of the truth among the mismatched elements; 0 where that is known too roughly.
    scale: float = 0.0

    @property
    def wide_agrees(self) -> bool:
        return self.wide_gap <= self.wide_allowed

    @property
    def is_rounding(self) -> bool:
        """Whether neither side is further off than rounding explains, in either precision."""
        return self.wide_agrees and not any(self.wrong)

    @property
    def ill_conditioned(self) -> bool:
        return self.amplification > _AMPLIFIED

    @property
    def imprecise(self) -> bool:
        """Whether the candidate alone is off by so much of what it computes that no order of operations explains it.

        That is a fault of its single precision, however small the numbers are.
        """
        well_conditioned = self.few and not self.ill_conditioned
        return well_conditioned and not self.wrong[0] and self.errors[1] > _DIGITS * self.scale > 0


@dataclasses.dataclass(frozen=True, slots=True)
class Rounding:
    """What is known of the rounding in a result."""

    #: Of the result.
    dtype: str
    #: How many numbers are added up in one element, at most.
    length: float
    #: What rounding to the dtype makes of the greatest magnitudes on the way to the result, which may have cancelled.
    #: In double precision too much of it hides nothing.
    cancellation: float = 0.0
    #: Whether what the result is computed of is the same on both sides, and in either precision. Then no rounding
    #: turns a whole number over in double precision, nor is one at a pole beside it.
    exact: bool = False

    def allowed(self, truth: Values, spread: Values, few: Values) -> Values:
        """How far each element may be from the truth; `few` says which of them few inputs reach."""
        if self.dtype not in ROUNDOFF:
            # Integers and booleans: exact, unless a roundoff of the inputs turns them over.
            return np.where(spread > 0, np.inf, 0.0)
        root = np.sqrt(np.maximum(self._lengths(few), 1.0))
        with np.errstate(all="ignore"):
            own = ROUNDOFF[self.dtype] * (4 + 2 * root) * np.abs(truth)
            bound = np.where(np.isfinite(own), own, 0.0) + 6 * root * spread
        return np.asarray(bound + 4 * TINY.get(self.dtype, 2.0**-149))

    def allowed_in_double(self, allowed: Values, truth: Values, few: Values) -> Values:
        """How far the sides may be apart in double precision, where `allowed` is what they may be from the truth."""
        finite = np.isfinite(allowed)
        bound = self.ratio(truth) * np.maximum(64 * np.where(finite, allowed, 0.0), self.cancellation)
        bound = np.where(finite, bound, np.inf)
        if self.exact:
            certain = np.isinf(truth) & few if self.dtype in ROUNDOFF else np.ones(truth.shape, bool)
            bound = np.where(certain, 0.0, bound)
        return bound

    def ratio(self, truth: Values) -> float:
        """The roundoff of double precision by that of the result."""
        wide = "complex128" if truth.dtype.kind == "c" else "float64"
        return ROUNDOFF[wide] / ROUNDOFF[self.dtype] if self.dtype in ROUNDOFF else 0.0

    def may_overflow(self, truth: Values, spread: Values, few: Values) -> Values:
        """Where some order of adding up overflows the dtype on the way to a finite result.

        Independent roundoffs of n terms move their sum by u / sqrt(3) of the terms' Euclidean norm, and no partial sum
        is more than sqrt(n) times that norm. One or two terms have no order.
        """
        kind = NARROW.get(self.dtype)
        if kind is None or self.dtype not in ROUNDOFF:
            return np.zeros(truth.shape, bool)
        lengths = self._lengths(few)
        with np.errstate(all="ignore"):
            reached = np.sqrt(3 * lengths) * spread / ROUNDOFF[self.dtype]
        return np.asarray(np.isfinite(truth) & (lengths > 2) & (reached > float(np.finfo(kind).max)))

    def amplification(self, truth: float, spread: float) -> float:
        """How many roundoffs of the result one roundoff of the inputs makes."""
        scale = ROUNDOFF.get(self.dtype, 1.0) * max(float(np.abs(truth)), TINY.get(self.dtype, 1.0))
        with np.errstate(all="ignore"):  # of a zero in double precision, the scale is one, too
            return float(np.divide(spread, scale)) if np.isfinite(scale) else float("inf")

    def scale(self, truth: Values) -> float:
        """The greatest magnitude of `truth`; 0 where double precision is no more precise, or may itself hold no more
        than what is left of great numbers that cancelled."""
        ratio = self.ratio(truth)
        greatest = float(np.abs(truth).max(initial=0.0, where=np.isfinite(truth)))
        return greatest if ratio < 1 and greatest > 64 * ratio * self.cancellation else 0.0

    def _lengths(self, few: Values) -> Values:
        return np.where(few, 2.0, self.length)


class Spread:
    """How far the elements of a result move in runs whose inputs move, added up run by run: each may be large."""

    __slots__ = ("_runs", "_squares", "_stood_still", "truth")

    def __init__(self, truth: Values) -> None:
        self.truth = np.asarray(truth)
        self._squares, self._stood_still = np.zeros(self.truth.shape), np.zeros(self.truth.shape, bool)
        self._runs = 0

    def add(self, moved: Values) -> None:
        """Add what one run gives; of another shape it says nothing."""
        if moved.shape != self.truth.shape:
            return
        with np.errstate(all="ignore"):
            move = distance(self.truth, moved.astype(self.truth.dtype))
            self._stood_still |= move == 0
            self._squares += move**2
        self._runs += 1

    def found(self) -> tuple[Values, Values]:
        """Root mean square of how far each element moved, and which elements few inputs reach."""
        if not self._runs:
            return self._squares, np.ones(self.truth.shape, bool)
        # Each run moves half of the inputs; an element that stood still in one of them depends on few.
        with np.errstate(all="ignore"):
            return np.sqrt(2 * (self._squares / self._runs)), self._stood_still


def measure(
    pair: tuple[Values, Values],
    wide: tuple[Values, Values],
    moved: Spread,
    mask: Values,
    rounding: Rounding,
) -> Measured:
    """Judge the elements in `mask` (at least one).

    Args:
        pair: expected and actual values, of one shape.
        wide: the same in double precision.
        moved: how the reference's in double precision moves when the inputs do by a roundoff of the result's dtype.
        mask: the elements that mismatched.
        rounding: what is known of it.
    """
    truth = np.asarray(wide[0])
    spread, few = moved.found()
    allowed = rounding.allowed(truth, spread, few)
    errors = [distance(_rounded(truth, rounding.dtype), np.asarray(side).astype(truth.dtype)) for side in pair]
    may_overflow = rounding.may_overflow(truth, spread, few)
    # Where terms of both signs overflow, their sum is NaN.
    beyond_range = [may_overflow & ~np.isfinite(side) for side in pair]
    errors = [np.where(excused, 0.0, error) for excused, error in zip(beyond_range, errors, strict=True)]
    # What is allowed anything is in excess of nothing, however far off it is.
    with np.errstate(over="ignore"):  # a finite error may be an infinite multiple of what is allowed
        excess = np.divide(
            np.maximum(*errors), np.maximum(allowed, 1e-320), out=np.zeros(truth.shape), where=np.isfinite(allowed)
        )
    at = _greatest(np.where(mask, excess, -1.0))
    gap = distance(truth, np.asarray(wide[1]).astype(truth.dtype))
    wide_allowed = rounding.allowed_in_double(allowed, truth, few)
    beyond = np.subtract(gap, wide_allowed, out=np.full(truth.shape, -_GREATEST), where=np.isfinite(wide_allowed))
    wide_at = _greatest(np.where(mask, beyond, -np.inf))
    return Measured(
        wrong=(int((errors[0] > allowed)[mask].sum()), int((errors[1] > allowed)[mask].sum())),
        total=int(mask.sum()),
        index=at,
        truth=truth[at].item(),
        values=(np.asarray(pair[0])[at].item(), np.asarray(pair[1])[at].item()),
        errors=(float(errors[0][at]), float(errors[1][at])),
        allowed=float(allowed[at]),
        wide_gap=float(gap[wide_at]),
        wide_allowed=float(wide_allowed[wide_at]),
        amplification=rounding.amplification(truth[at], float(spread[at])),
        few=bool(few[at]),
        stays=_stays(pair, gap, at) and rounding.ratio(truth) < _KEPT,
        scale=rounding.scale(truth[mask]),
    )


def _stays(pair: tuple[Values, Values], gap: Values, at: tuple[int, ...]) -> bool:
    """Great numbers elsewhere in the inputs may allow more than there is: what precision explains is gone with it."""
    expected, actual = (np.asarray(side) for side in pair)
    return bool(gap[at] > _KEPT * distance(expected, actual.astype(expected.dtype))[at])


def _rounded(truth: Values, dtype: str) -> Values:
    """`truth` with the overflow of `dtype`: an infinity there is no error of either side."""
    kind = NARROW.get(dtype)
    if kind is None:
        return truth
    with np.errstate(all="ignore"):
        narrow = truth.astype(kind).astype(truth.dtype)
        return np.asarray(np.where(np.isfinite(narrow), truth, narrow))


def _greatest(values: Values) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(values)), values.shape))


__all__ = ["Measured", "Rounding", "Spread", "measure"]
