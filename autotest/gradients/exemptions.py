"""Decides when a derivative that differs from the difference quotient is right nevertheless."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from autotest.gradients.evidence import (
    Line,
    converged,
    has_neighbours,
    is_rough,
    is_unstable,
    magnitude_of,
    nudged,
    refuted,
)
from autotest.gradients.function import FunctionOfInputs, Real, moved, reals, slope
from autotest.gradients.rule import Rule
from autotest.results.gradient_rows import failing

#: Maximum number of elements of one input whose failing derivatives are examined.
MOST = 256
#: Distance in `eps` of the points beside a kink that are checked, and of the longer step of coarse differences.
NEIGHBOUR = 1000.0
#: Note of a row that was compared with coarse differences.
LOWER = "computed in lower precision"
#: `POINTS`: number of points on each side of an element at which the function is searched for steps. `DENSITY`: number
#: of these points per `eps`; not a power of two, because steps in float32 are a power of two apart.
POINTS = 48
DENSITY = 7.3
#: Number of points at which it is seen first whether the function is smooth, which most are. Their distances are not
#: regular: steps of which a regular distance is a multiple would not be seen.
FEW = 20
#: Fourth differences beyond rounding, relative to the greatest value: of all points, and the less of the few, so that
#: no function counts as smooth that all points show to move in steps.
BENT, SLIGHTLY_BENT = 1e-13, 2e-14
#: Number of failing elements for which the function is searched for steps in any case.
STEPPED = 16
#: Relative size of a step in bfloat16, the coarsest lower precision.
COARSEST = 2.0**-8
#: A function moves in steps if its fourth difference is not zero at this number of points. One kink or step gives four.
STEPS = 8


@dataclasses.dataclass(frozen=True, slots=True)
class JacobianBlock:
    """The derivatives of one output of a function by one input, and their comparison with differences."""

    function: FunctionOfInputs
    input: int
    output: int
    rule: Rule

    def at_a_kink(self, analytic: Real, numeric: Real, centre: Real) -> Real:
        """Return a mask of the failing elements that are right nevertheless, because the function has a kink there.

        Args:
            analytic: the Jacobian by autograd.
            numeric: the Jacobian by differences.
            centre: the values of the output.
        """
        function, rule, looked = self.function, self.rule, 0
        exempt = np.zeros(analytic.shape, dtype=bool)
        wrong = failing(analytic, numeric, rule.atol, rule.rtol)
        for k in np.flatnonzero(wrong.any(axis=1)):
            above, below = function.around(self.input, int(k), rule.eps)
            left, right = slope(centre, below[self.output], rule.eps), slope(above[self.output], centre, rule.eps)
            with np.errstate(all="ignore"):
                slack = 10 * (rule.atol + rule.rtol * np.maximum(np.abs(left), np.abs(right)))
                jumps = ~(np.abs(right - left) <= slack)
                low, high = np.minimum(left, right) - slack, np.maximum(left, right) + slack
                columns = np.flatnonzero(wrong[k] & jumps & (analytic[k] >= low) & (analytic[k] <= high))
            if not columns.size:
                continue
            exempt[k, columns] = self._right_on_both_sides(int(k), columns)
            looked += 1
            if looked == MOST:
                break
        return exempt

    def unproven(self, analytic: Real, numeric: Real, exempt: Real) -> tuple[Real, Real]:
        """Return masks of the failing elements that are not proved wrong, and of those right in lower precision.

        Args:
            analytic: the Jacobian by autograd.
            numeric: the Jacobian by differences.
            exempt: a mask of elements that are not to be checked.
        """
        function, rule = self.function, self.rule
        looked = failing(analytic, numeric, rule.atol, rule.rtol) & ~exempt
        found = looked.copy()
        coarse = np.zeros_like(found)
        if not found.any():
            return found, coarse
        drawn = [reals(array.data) for array in function.arrays]
        numbers, extent = drawn[self.input], magnitude_of([*drawn, *function.values()])
        with np.errstate(all="ignore"):
            sensitivity = np.abs(analytic * numbers.reshape(-1, 1))
        conditioning = np.where(np.isfinite(sensitivity), sensitivity, 0.0).sum(axis=0)
        for count, k in enumerate(np.flatnonzero(found.any(axis=1))[:MOST]):
            line = Line(self._line(numbers, int(k)), *extent, abs(numbers[k]), conditioning)
            wrong = refuted(analytic[k], line, rule)[0] & found[k]
            otherwise = np.zeros_like(wrong)
            if has_neighbours(numbers, int(k), rule.eps):
                wrong &= not self._right_on_both_sides(int(k), np.flatnonzero(wrong))
            elif wrong.any() or count < STEPPED:
                coarse[k], otherwise = self._in_lower_precision(int(k), analytic[k])
                coarse[k] &= found[k]
                wrong &= ~coarse[k]
                otherwise &= line.finite | np.isfinite(analytic[k])  # as `refuted` does
            if wrong.any() and is_rough(self._between(numbers, int(k)), rule, analytic[k][wrong]):
                wrong[:] = False
            found[k] &= ~(wrong | otherwise)
        proven = looked & ~found & ~coarse
        if proven.any():
            found |= self._unstable(proven, np.abs(analytic - numeric), numbers)
        return found & ~coarse, coarse

    def _unstable(self, proven: Real, gap: Real, numbers: Real) -> Real:
        """Return a mask of the derivatives that rounding of the input changes too much; see `is_unstable`.

        Args:
            proven: a mask of the derivatives that differences prove wrong. The search ends when one of them is stable.
            gap: the error of each derivative.
            numbers: the drawn contents of the input.
        """
        found = np.zeros(gap.shape, dtype=bool)
        for j in np.flatnonzero(proven.any(axis=0)):
            near = [self._gradient(int(j), gap.shape[1], point) for point in nudged(numbers)]
            found[:, j] = proven[:, j] & is_unstable(near, gap[:, j])
            if (proven[:, j] & ~found[:, j]).any():
                break
        return found

    def _gradient(self, j: int, size: int, numbers: Real) -> Real:
        """Return the gradient of element `j` of the output, which has `size`, with `numbers` in the input."""
        return self.function.gradient_at(self.input, numbers, self.output, moved(np.zeros(size), j, 1.0))

    def _line(self, numbers: Real, k: int) -> Callable[[float], Real]:
        return lambda step: self.function.at(self.input, moved(numbers, k, step))[self.output]

    def _between(self, numbers: Real, k: int) -> Callable[[float], list[Real]]:
        return lambda step: self.function.between(self.input, moved(numbers, k, step), self.output)

    def _right_on_both_sides(self, k: int, columns: Real) -> bool:
        return all(self._right_beside(k, columns, side * NEIGHBOUR * self.rule.eps) for side in (-1, 1))

    def _right_beside(self, k: int, columns: Real, shift: float) -> bool:
        """Return whether the derivatives by element `k`, shifted by `shift`, agree with differences there."""
        function, i, rule = self.function, self.input, self.rule
        above, below = function.around(i, k, rule.eps, shift)
        numeric = slope(above[self.output], below[self.output], 2 * rule.eps)
        beside = moved(reals(function.arrays[i].data), k, shift)
        own = (self._gradient(int(j), numeric.size, beside)[k] for j in columns)
        return not any(failing(one, numeric[j], rule.atol, rule.rtol) for one, j in zip(own, columns, strict=True))

    def _in_lower_precision(self, k: int, analytic: Real) -> tuple[Real, Real]:
        """Return masks of the derivatives by element `k` that coarse differences prove right, and wrong.

        Both are empty unless the function moves in steps near `k`, as in a lower precision.
        """
        rule, distance = self.rule, NEIGHBOUR * self.rule.eps
        points = self._near(k)
        if not points.size:
            return np.zeros(analytic.shape, dtype=bool), np.zeros(analytic.shape, dtype=bool)
        height, typical = self._steps(k, points)
        if not height.any():
            return height > 0, height > 0
        far, near = (self._quotient(k, step) for step in (distance, distance / 2))
        # The errors: half a step at each end, and the curvature of the function, which is less over half the distance.
        bound = rule.atol + rule.rtol * np.abs(near)
        with np.errstate(all="ignore"):
            close = np.abs(analytic - near) <= bound + 4 * height / distance + 2 * np.abs(far - near)
        lower = (height > 0) & (height <= COARSEST * typical)
        return (height > 0) & close, lower & ~close & converged(far, near, bound)

    def _quotient(self, k: int, step: float) -> Real:
        above, below = self.function.around(self.input, k, step)
        return slope(above[self.output], below[self.output], 2 * step)

    def _near(self, k: int) -> Real:
        """Return the numbers near input element `k` at which the function is searched for steps.

        There are none if it cannot be moved: it is infinite or NaN, or so large that all of them round to it.
        """
        number = reals(self.function.arrays[self.input].data)[k]
        points: Real = number + np.arange(-POINTS, POINTS + 1) * self.rule.eps / DENSITY
        return points if np.isfinite(number) and (points != number).any() else points[:0]

    def _steps(self, k: int, points: Real) -> tuple[Real, Real]:
        """Return the greatest step of each output element near input element `k`, and its typical magnitude there.

        The step is zero if the output changes smoothly. `points` are the numbers in place of the element.
        """
        few = _irregular(points[0], points[-1])
        seen = self._seen(k, few)
        bends = _fourth_differences(seen, few)
        with np.errstate(all="ignore"):
            if not (bends > SLIGHTLY_BENT * (1 + np.abs(seen).max(axis=0))).any():
                return np.zeros(seen.shape[1:]), np.zeros(seen.shape[1:])
        seen = self._seen(k, points)
        with np.errstate(all="ignore"):
            # Fourth differences of a smooth function are only rounding, a few units in the last place.
            bends = np.abs(np.diff(seen, 4, axis=0))
            counted = (bends > BENT * (1 + np.abs(seen).max(axis=0))).sum(axis=0)
        height: Real = np.where(counted >= STEPS, bends.max(axis=0) / 2, 0.0)
        return height, np.median(np.abs(seen), axis=0)

    def _seen(self, k: int, points: Real) -> Real:
        """Return the values of the output, one row for each of `points` in place of input element `k`."""
        centre = reals(self.function.arrays[self.input].data)
        here = np.arange(centre.size) == k
        instead = (np.where(here, point, centre) for point in points)
        return np.array([found[self.output] for found in self.function.at_each(self.input, instead)])


def _irregular(first: float, last: float) -> Real:
    """Return `FEW` numbers from `first` to `last`: between these, the multiples of the golden ratio modulo 1."""
    parts = np.sort(np.arange(1, FEW - 1) * (5**0.5 - 1) / 2 % 1)
    return first + np.concatenate([[0.0], parts, [1.0]]) * (last - first)


def _fourth_differences(seen: Real, points: Real) -> Real:
    """Return the magnitudes of the fourth differences of the rows of `seen`, which are values at rising `points`.

    They are divided differences, times what makes them the usual ones if the points are equally far from each other.
    """
    five = np.lib.stride_tricks.sliding_window_view(points, 5)
    with np.errstate(all="ignore"):
        weights = 1 / (five[:, :, None] - five[:, None, :] + np.eye(5)).prod(axis=2)
        weights *= 16 / np.abs(weights).sum(axis=1, keepdims=True)
        terms = (weights[:, j, None] * seen[j : j + len(weights)] for j in range(5))
        return np.abs(sum(terms, np.zeros(1)))
