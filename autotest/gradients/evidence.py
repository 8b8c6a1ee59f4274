"""Decides whether differences prove that a derivative is wrong, at a point that was not chosen for differences.

A trial draws NaN, infinities, ties, poles, and numbers so large that a step does not change them. A difference quotient
is not the derivative there, and proves nothing about it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from autotest.comparison.elementwise import same_numbers
from autotest.gradients.function import Real, slope
from autotest.gradients.rule import Rule

#: The step of the second difference quotient is shorter by this factor. For a smooth function, both quotients agree.
FINER = 16.0
#: A unit in the last place of a float64, relative to the number.
ULP = 2.0**-52
#: Allowed rounding error of values, relative to the greatest magnitude of inputs and outputs, or to their conditioning.
ROUNDING = 4 * ULP
#: A wrong derivative is off by more than this multiple of the error that the two quotients indicate.
MARGIN = 4.0
#: Number of points at which it is seen how much rounding of the inputs changes a derivative.
NUDGES = 8
#: Relative difference up to which two quotients agree. Near a pole, the shorter step gives one many times as large.
CONVERGENCE_FACTOR = 0.1


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """A function along a line through the point at which a derivative is checked."""

    #: Returns the function's values after a step along the line.
    at: Callable[[float], Real]
    #: The greatest finite magnitude of inputs and outputs.
    magnitude: float
    #: Whether all inputs and outputs are finite.
    finite: bool
    #: The greatest magnitude of the numbers that a step is added to.
    moved: float
    #: The relative condition of each output times its value, where it is known: the sum of ``|derivative * input|``. A
    #: backward stable algorithm, such as that of an inverse, rounds as if each input were off by a unit in the last
    #: place, which changes an output by this sum times the unit (Higham 2002, section 1.6).
    conditioning: Real | float = 0.0


def magnitude_of(numbers: Sequence[Real]) -> tuple[float, bool]:
    """Return the greatest finite magnitude in arrays, and whether all their elements are finite."""
    greatest, finite = 0.0, True
    for array in numbers:
        known = np.isfinite(array)
        finite = finite and bool(known.all())
        greatest = max(greatest, float(np.abs(array[known]).max(initial=0.0)))
    return greatest, finite


def refuted(analytic: Real, line: Line, rule: Rule) -> tuple[Real, Real]:
    """Return a mask of the derivatives in `analytic` that differences prove wrong, and the difference quotients.

    Differences prove nothing where the function is not finite, where it has a pole, a step or a kink, or where the
    change of the function or of its input is smaller than rounding. They also prove nothing about a derivative that is
    not finite if any input or output is not finite, because backward may have multiplied that by zero.

    Args:
        analytic: the derivatives by autograd.
        line: the function along the direction of the derivatives.
        rule: the step and the tolerances.
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
        # Each end of a step is rounded to half a unit in the last place of the number that the step is added to. `lost`
        # is the resulting error of the derivative. For a number so large that a step does not change it, it is total.
        steepness = np.maximum(np.abs(analytic), np.abs(quotient))
        lost = np.where(np.isfinite(steepness), steepness, 0.0) * ULP * line.moved / (2 * step)
        error = np.abs(wide - quotient) + ROUNDING * np.maximum(line.magnitude, line.conditioning) / step + lost
        unsure = MARGIN * error + jump
        bound = rule.atol + rule.rtol * np.abs(quotient)
        gap = np.minimum(np.abs(analytic - wide), np.abs(analytic - quotient))
        # At a kink, the slope changes by the same amount over both distances; near a pole, more over the shorter one.
        known = converged(wide, quotient, bound) & converged(bend, jump, bound + CONVERGENCE_FACTOR * np.abs(quotient))
        known &= np.isfinite(centre) & np.isfinite(wide) & np.isfinite(quotient)
        smooth = line.finite and bool((known & (unsure <= 10 * bound)).all())
        off = np.where(np.isfinite(analytic), gap > bound + unsure, smooth)
    return known & off, quotient


def is_rough(at: Callable[[float], Sequence[Real]], rule: Rule, derivative: Real) -> bool:
    """Return whether the chain rule need not give the derivative at a point, because of an intermediate result there.

    That is so if one has a kink, a step or a pole, also where the result is smooth: the gradient of
    ``relu(x) - relu(-x)``, which is x, is 0 at 0. If one is not finite, a derivative that is not finite may come from
    it, as in ``where(x > 0, log(x), x)`` at 0.

    Args:
        at: returns the intermediate results after a step along the direction of the derivative.
        rule: the step and the tolerances.
        derivative: the derivatives by autograd that are in doubt.
    """
    step = rule.eps / FINER
    centre, *around = (np.concatenate([*at(length), []]) for length in (0.0, rule.eps, -rule.eps, step, -step))
    if any(one.shape != centre.shape for one in around):
        return True
    above, below, upper, lower = around
    with np.errstate(all="ignore"):
        wide, quotient = slope(above, below, 2 * rule.eps), slope(upper, lower, 2 * step)
        bend, jump = np.abs(above + below - 2 * centre) / rule.eps, np.abs(upper + lower - 2 * centre) / step
        bound = rule.atol + rule.rtol * np.abs(quotient) + ROUNDING * magnitude_of([centre])[0] / step
        # The slope of a smooth function changes in proportion to the distance.
        smooth = converged(wide, quotient, bound) & (jump <= bound + bend / 4)
        finite = np.isfinite(centre)
        # What the step does not change is another element's.
        unchanged = np.logical_and.reduce([same_numbers(one, centre) for one in around])
    return not (bool((unchanged | (smooth & finite)).all()) and (bool(finite.all()) or np.isfinite(derivative).all()))


def nudged(numbers: Real) -> list[Real]:
    """Return `numbers` changed by about as much as rounding changes them, and by two to `NUDGES` times as much.

    Zeros stay zeros, equal numbers stay equal, and all changes of a number are in one direction, so that they are on
    the same side of a kink.
    """
    values, positions = np.unique(numbers, return_inverse=True)
    drawn = np.random.default_rng(values.size)
    along = (drawn.uniform(0.5, 1.0, values.size) * drawn.choice((-1.0, 1.0), values.size))[positions]
    with np.errstate(all="ignore"):
        return [numbers * (1 + times * ROUNDING * along) for times in range(1, NUDGES + 1)]


def is_unstable(derivatives: Sequence[Real], gap: Real) -> Real:
    """Return a mask of the derivatives that rounding of the inputs changes by more than their error `gap`.

    Such a derivative, as of the QR decomposition of an almost singular matrix, is known to nobody.

    Args:
        derivatives: by autograd, at each of the `nudged` points.
        gap: how far the derivative at the drawn point is from the difference quotient.
    """
    with np.errstate(all="ignore"):
        mask: Real = MARGIN * np.ptp(np.stack(derivatives), axis=0) > gap
    return mask


def converged(wide: Real, quotient: Real, bound: Real) -> Real:
    """Return a mask of the quotients over two distances that agree as for a smooth function."""
    with np.errstate(all="ignore"):
        mask: Real = np.abs(wide - quotient) <= bound + CONVERGENCE_FACTOR * np.maximum(np.abs(wide), np.abs(quotient))
    return mask


def has_neighbours(numbers: Real, k: int, eps: float) -> bool:
    """Return whether another number is so near to that at `k` that a step may pass it.

    Then it is undecided which of the two counts, for example in a maximum.
    """
    with np.errstate(all="ignore"):
        return int((np.abs(numbers - numbers[k]) <= 2 * eps).sum()) > 1


def has_ties(numbers: Real, eps: float) -> bool:
    """Return whether any two of the finite numbers are so near to each other that a step may pass one."""
    ordered = np.sort(numbers[np.isfinite(numbers)])
    return bool((np.diff(ordered) <= 2 * eps).any())
