"""Compares the gradient of one number, such as a weighted sum of results, with differences of that number."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np

from autotest.gradients.evidence import Line, has_neighbours, is_rough, is_unstable, magnitude_of, nudged, refuted
from autotest.gradients.exemptions import NEIGHBOUR
from autotest.gradients.function import FunctionOfInputs, Real, moved, real_shape, reals, slope
from autotest.gradients.rule import Rule
from autotest.results.gradient_rows import GradientRow, Jacobians, RowNames, failing, index_text, row_of

#: Maximum number of elements that are checked one by one because the gradient of a part that contains them looks wrong.
MOST_SUSPECTS = 12


@dataclasses.dataclass(frozen=True, slots=True)
class SumOfInput:
    """A number as a function of the real numbers of one input."""

    #: The drawn contents of the input.
    drawn: Real
    #: Returns the number for other contents.
    total: Callable[[Real], float]
    #: Returns its gradient by autograd for other contents.
    gradient: Callable[[Real], Real]
    #: Returns the intermediate results for other contents, as far as they are known.
    between: Callable[[Real], list[Real]]
    #: The greatest finite magnitude of inputs and outputs, and whether all of them are finite.
    extent: tuple[float, bool]

    def wrong_element(self, analytic: Real, rule: Rule) -> tuple[int, float] | None:
        """Return the first element of the gradient `analytic` that differences prove wrong, or None.

        Returns:
            The index of the element, and its derivative by differences.
        """
        for k in self._suspects(analytic, rule.eps):
            line = Line(lambda step, k=k: np.array(self._moved(k, step)), *self.extent, abs(self.drawn[k]))  # type: ignore[misc]
            wrong, numeric = refuted(np.array(analytic[k]), line, rule)
            tied = wrong and has_neighbours(self.drawn, k, rule.eps)
            if wrong and not (tied and self._right_on_both_sides(k, rule)):
                near = [self.gradient(numbers)[k] for numbers in nudged(self.drawn)]
                inner = lambda step, k=k: self.between(moved(self.drawn, k, step))  # noqa: E731
                if is_unstable(near, abs(analytic[k] - numeric)) or is_rough(inner, rule, analytic[k]):
                    continue
                return k, float(numeric)
        return None

    def _moved(self, k: int, step: float) -> float:
        return self.total(moved(self.drawn, k, step))

    def _right_on_both_sides(self, k: int, rule: Rule) -> bool:
        """Return whether the derivatives by element `k` agree with differences on both sides of its neighbours."""
        eps = rule.eps
        for shift in (-NEIGHBOUR * eps, NEIGHBOUR * eps):
            above, below = (np.array(self._moved(k, shift + step)) for step in (eps, -eps))
            own = self.gradient(moved(self.drawn, k, shift))[k]
            if failing(np.array(own), slope(above, below, 2 * eps), rule.atol, rule.rtol):
                return False
        return True

    def _suspects(self, analytic: Real, eps: float) -> Iterator[int]:
        """Yield elements whose derivative may be wrong, found by bisecting parts whose gradient looks wrong."""
        looked = 0
        # If a value is not finite, differences prove nothing about derivatives that are not finite.
        waiting = [np.arange(analytic.size) if self.extent[1] else np.flatnonzero(np.isfinite(analytic))]
        while waiting and looked < MOST_SUSPECTS:
            part = waiting.pop()
            if not part.size or (part.size > 1 and not self._looks_wrong(part, analytic, eps)):
                continue
            if part.size == 1:
                looked += 1
                yield int(part[0])
            else:
                waiting += [part[part.size // 2 :], part[: part.size // 2]]

    def _looks_wrong(self, part: Real, analytic: Real, eps: float) -> bool:
        along = np.zeros(analytic.size)
        along[part] = np.random.default_rng(part.size).uniform(0.5, 1.0, part.size)
        above, below = (self.total(self.drawn + step * along) for step in (eps, -eps))
        with np.errstate(all="ignore"):
            numeric = (above - below) / (2 * eps)
            gap = abs(float(analytic[part] @ along[part]) - numeric)
        return not gap <= 1e-7 * (1 + abs(numeric)) + 1e-9 * abs(above)


def summed_rows(function: FunctionOfInputs, rule: Rule, names: RowNames, weights: list[Real]) -> list[GradientRow]:
    """Return a row for each pair of an input and an output, which checks only a weighted sum of the output.

    Args:
        function: the function and its inputs.
        rule: the step and the tolerances.
        names: the names in the rows.
        weights: for each output, the weights of its elements as real numbers.
    """
    drawn, values = [reals(array.data) for array in function.arrays], function.values()
    with np.errstate(all="ignore"):
        sums = [np.abs(weight * value).sum(keepdims=True) for weight, value in zip(weights, values, strict=True)]
        extents = [magnitude_of([*drawn, *values, one]) for one in sums]
        return [
            _row(_summed(function, (i, o), weight, extents[o]), real_shape(array.data), rule, names.of(i, o))
            for i, array in enumerate(function.arrays)
            for o, weight in enumerate(weights)
        ]


def _summed(function: FunctionOfInputs, pair: tuple[int, int], weight: Real, extent: tuple[float, bool]) -> SumOfInput:
    """Return the sum, weighted by `weight`, of output ``pair[1]`` as a function of input ``pair[0]``."""
    (i, o), drawn = pair, reals(function.arrays[pair[0]].data)

    def total(numbers: Real) -> float:
        return float(weight @ function.at(i, numbers)[o])

    def gradient(numbers: Real) -> Real:
        return function.gradient_at(i, numbers, o, weight)

    return SumOfInput(drawn, total, gradient, lambda numbers: function.between(i, numbers, o), extent)


def _row(summed: SumOfInput, shape: tuple[int, ...], rule: Rule, names: tuple[str, str]) -> GradientRow:
    analytic = summed.gradient(summed.drawn)
    found = summed.wrong_element(analytic, rule)
    if found is None:
        return GradientRow(*names, passed=True, allowed=rule.atol, note="the weighted sum")
    return row_of_element(names, found, analytic, shape, rule, note="the weighted sum")


def row_of_element(
    names: tuple[str, str], found: tuple[int, float], analytic: Real, shape: tuple[int, ...], rule: Rule, note: str = ""
) -> GradientRow:
    """Return the row about one element of a gradient; `found` is its index and its derivative by differences."""
    at, numeric = found
    pair = Jacobians(names, analytic[at].reshape(1, 1), np.array(numeric).reshape(1, 1))
    row = row_of(pair, rule.atol, rule.rtol, note=note)
    return dataclasses.replace(row, input_index=index_text(at, shape))
