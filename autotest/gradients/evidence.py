"""Whether differences show that a derivative is wrong, at a point that nobody chose for them.

A trial draws NaN, infinities, ties, poles, and numbers beside which a step is nothing. A quotient of differences is no
derivative there, and says nothing about one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from autotest.gradients.function import Real, slope
from autotest.gradients.rule import Rule

#: The second quotient is taken over a step that is this many times shorter: of a smooth function it is the same.
FINER = 16.0
#: A unit in the last place, as a part of a number.
ULP = 2.0**-52
#: Units in the last place by which values may be off, at the magnitude of what goes in and comes out.
ROUNDING = 4 * ULP
#: How many times the error that two quotients show of themselves a derivative must be off by.
MARGIN = 4.0
#: What part of themselves two quotients may differ by: beside a pole the shorter step gives many times as much.
SETTLED = 0.1


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """A function along a line through the point at which its derivative is in question."""

    #: Its values after a step.
    at: Callable[[float], Real]
    #: The greatest number among what goes in and what comes out.
    magnitude: float
    #: Whether all of these are finite numbers.
    finite: bool
    #: The greatest of the numbers that a step is added to.
    moved: float


def magnitude_of(numbers: Sequence[Real]) -> tuple[float, bool]:
    """The greatest finite magnitude in arrays, and whether all that they hold is finite."""
    greatest, finite = 0.0, True
    for array in numbers:
        known = np.isfinite(array)
        finite = finite and bool(known.all())
        greatest = max(greatest, float(np.abs(array[known]).max(initial=0.0)))
    return greatest, finite


def refuted(analytic: Real, line: Line, rule: Rule) -> tuple[Real, Real]:
    """Mask of the derivatives in `analytic` that differences show to be wrong, and these differences.

    They show nothing where the function is not finite, where it has a pole, a step or a kink, and where it, or what it
    is a function of, moves less than it is rounded; and of a NaN nothing where any other value is so, whose own a
    backward multiplies by zero.
    """
    step = rule.eps / FINER
    centre = line.at(0.0)
    far, near = ((line.at(length), line.at(-length)) for length in (rule.eps, step))
    with np.errstate(all="ignore"):
        wide, quotient = slope(*far, 2 * rule.eps), slope(*near, 2 * step)
        bend, jump = (
            np.abs((above - centre) - (centre - below)) / length
            for (above, below), length in ((far, rule.eps), (near, step))
        )
        # Either end of a step is rounded to half a unit in the last place of what it is added to: so much of a
        # derivative is lost. All of it is where the number is so great that a step does not move it.
        steepness = np.maximum(np.abs(analytic), np.abs(quotient))
        lost = np.where(np.isfinite(steepness), steepness, 0.0) * ULP * line.moved / (2 * step)
        error = np.abs(wide - quotient) + ROUNDING * line.magnitude / step + lost
        unsure = MARGIN * error + jump
        bound = rule.atol + rule.rtol * np.abs(quotient)
        gap = np.minimum(np.abs(analytic - wide), np.abs(analytic - quotient))
        # A kink turns by as much over either distance, beside a pole the nearer values turn by more.
        known = settled(wide, quotient, bound) & settled(bend, jump, bound + SETTLED * np.abs(quotient))
        known &= np.isfinite(centre) & np.isfinite(wide) & np.isfinite(quotient)
        smooth = line.finite and bool((known & (unsure <= 10 * bound)).all())
        off = np.where(np.isfinite(analytic), gap > bound + unsure, smooth)
    return known & off, quotient


def settled(wide: Real, quotient: Real, bound: Real) -> Real:
    """Mask of the quotients over two distances that agree as those of a smooth function do."""
    with np.errstate(all="ignore"):
        mask: Real = np.abs(wide - quotient) <= bound + SETTLED * np.maximum(np.abs(wide), np.abs(quotient))
    return mask


def has_neighbours(numbers: Real, k: int, eps: float) -> bool:
    """Whether another number lies so near to that at `k` that a step passes it: which of them counts is open there."""
    with np.errstate(all="ignore"):
        return int((np.abs(numbers - numbers[k]) <= 2 * eps).sum()) > 1


def has_ties(numbers: Real, eps: float) -> bool:
    """Whether any two numbers lie so near to one another."""
    ordered = np.sort(numbers[np.isfinite(numbers)])
    return bool((np.diff(ordered) <= 2 * eps).any())


__all__ = ["Line", "has_neighbours", "has_ties", "magnitude_of", "refuted", "settled"]
