"""When a derivative that differs from the difference quotient is right all the same."""

from __future__ import annotations

import dataclasses

import numpy as np

from autotest.gradients.function import FunctionOfInputs, Real, reals, slope
from autotest.results.gradient_rows import failing

#: Elements of one input whose failing derivative is looked at, at most.
MOST = 256
#: A kink's neighbours are this many `eps` away, and the longer distance of differences is as many.
NEIGHBOUR = 1000.0
#: The note of a row that was held against coarse differences.
LOWER = "computed in lower precision"
#: Points on either side of an element at which steps are looked for, and how many of them there are to an `eps`. No
#: power of two, which the places of steps in float32 are apart.
POINTS = 48
DENSITY = 7.3
#: In how many places the points must bend: a kink, or a single step, bends them in four.
STEPS = 8


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """How a gradient is held against differences: ``|analytic - numeric| <= atol + rtol * |numeric|``."""

    eps: float = 1e-6
    atol: float = 1e-6
    rtol: float = 1e-4
    nondet_tol: float = 0.0
    dtypes: bool = True
    fast: bool = True
    #: Whether a cotangent must give the same gradient when it is laid out otherwise, and its negative the negative one.
    strict: bool = False
    #: Whether a function that is computed in lower precision than its input's is exempt.
    coarse: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class JacobianBlock:
    """The derivatives of one output of a function by one input, and how they are held against differences."""

    function: FunctionOfInputs
    input: int
    output: int
    rule: Rule

    def at_a_kink(self, jacobians: tuple[Real, Real, Real, Real]) -> Real:
        """Mask of the failing elements that are right all the same, because the function has a kink there."""
        analytic, numeric, left, right = jacobians
        rule = self.rule
        exempt = np.zeros(analytic.shape, dtype=bool)
        wrong = failing(analytic, numeric, rule.atol, rule.rtol)
        with np.errstate(all="ignore"):
            slack = 10 * (rule.atol + rule.rtol * np.maximum(np.abs(left), np.abs(right)))
            jumps = ~(np.abs(right - left) <= slack)
            between = (analytic >= np.minimum(left, right) - slack) & (analytic <= np.maximum(left, right) + slack)
        candidates = wrong & jumps & between
        for k in np.flatnonzero(candidates.any(axis=1))[:MOST]:
            columns = np.flatnonzero(candidates[k])
            if all(self._right_beside(int(k), columns, side * NEIGHBOUR * rule.eps) for side in (-1, 1)):
                exempt[k, columns] = True
        return exempt

    def _right_beside(self, k: int, columns: Real, shift: float) -> bool:
        """Whether the derivatives by element `k`, moved by `shift`, are what differences say there."""
        function, i, rule = self.function, self.input, self.rule
        above, below = function.around(i, k, rule.eps, shift)
        numeric = slope(above[self.output], below[self.output], 2 * rule.eps)
        moved = reals(function.arrays[i].data)
        moved[k] += shift
        function.put(i, moved)
        try:
            for j in columns:
                unit = np.zeros(numeric.size)
                unit[j] = 1.0
                gradient = function.pushed_back(self.output, unit)[i]
                own = 0.0
                if gradient is not None:
                    (value,) = function.framework.values([gradient])
                    own = float(reals(value.data)[k])
                if failing(np.array(own), numeric[j], rule.atol, rule.rtol):
                    return False
        finally:
            function.put(i, reals(function.arrays[i].data))
        return True

    def in_lower_precision(self, jacobians: tuple[Real, Real], exempt: Real) -> Real:
        """Mask of the failing elements that are right as far as a function that moves in steps can tell."""
        analytic, numeric = jacobians
        rule = self.rule
        found = np.zeros(analytic.shape, dtype=bool)
        wrong = failing(analytic, numeric, rule.atol, rule.rtol) & ~exempt
        if not rule.coarse or not wrong.any():
            return found
        distance = NEIGHBOUR * rule.eps
        for k in np.flatnonzero(wrong.any(axis=1))[:MOST]:
            height = self._steps(int(k))
            if not height.any():
                continue
            far, near = (self._quotient(int(k), step) for step in (distance, distance / 2))
            # Half a step of error at either end; and what the function curves, which is less over half of the distance.
            allowed = rule.atol + rule.rtol * np.abs(near) + 4 * height / distance + 2 * np.abs(far - near)
            with np.errstate(all="ignore"):
                found[k] = wrong[k] & (height > 0) & (np.abs(analytic[k] - near) <= allowed)
        return found

    def _quotient(self, k: int, step: float) -> Real:
        above, below = self.function.around(self.input, k, step)
        return slope(above[self.output], below[self.output], 2 * step)

    def _steps(self, k: int) -> Real:
        """The greatest step that each element of the output makes near element `k`; zero where it moves smoothly."""
        shifts = np.arange(-POINTS, POINTS + 1) * self.rule.eps / DENSITY
        centre = reals(self.function.arrays[self.input].data)
        values = []
        for shift in shifts:
            moved = centre.copy()
            moved[k] += shift
            values.append(self.function.at(self.input, moved)[self.output])
        seen = np.array(values)
        with np.errstate(all="ignore"):
            # The fourth differences: of a smooth function they are rounding, a few units in the last place.
            bends = np.abs(np.diff(seen, 4, axis=0))
            counted = (bends > 1e-13 * (1 + np.abs(seen).max(axis=0))).sum(axis=0)
        height: Real = np.where(counted >= STEPS, bends.max(axis=0) / 2, 0.0)
        return height


__all__ = ["LOWER", "JacobianBlock", "Rule"]
