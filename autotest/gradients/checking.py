"""Compares the derivatives of a function by autograd with central differences.

The gradient for a cotangent v is that of ``L = Re(sum(conj(v) * f(x)))``, as in torch.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.base.plural import several, were
from autotest.comparison.elementwise import distance
from autotest.gradients.evidence import Line, has_ties, is_rough, magnitude_of, refuted
from autotest.gradients.exemptions import LOWER, JacobianBlock
from autotest.gradients.function import FORWARD_MODE, FunctionOfInputs, Real, from_reals, real_shape, reals, reals_of
from autotest.gradients.rule import Rule
from autotest.gradients.sums import summed_rows
from autotest.program import Array
from autotest.results.gradient_rows import GradientRow, Jacobians, RowNames, failing, row_of

#: Maximum number of derivatives that a cautious check looks at one by one; above this, it checks sums.
MOST_DERIVATIVES = 1_000_000
#: A projection shows errors of single derivatives down to this part of the greatest one.
VISIBLE = 0.01
#: Part of the message about a backward pass that is not linear.
LINEAR = "the negative cotangent than the negative gradient: backward is not linear"


@dataclasses.dataclass(slots=True)
class GradcheckResult:
    """One row for each pair of an input and an output that was checked, and warnings."""

    rows: list[GradientRow] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)
    #: Number of derivatives that were not compared because the function is not finite there, unless `Rule.cautious`.
    undefined: int = 0

    @property
    def passed(self) -> bool:
        return all(row.passed for row in self.rows)


@np.errstate(all="ignore")  # drawn numbers may be NaN
def check(function: FunctionOfInputs, rule: Rule, names: RowNames | None = None) -> GradcheckResult:
    """Check each pair of a varied input and an output.

    Args:
        function: the function and its inputs.
        rule: the tolerances and the kind of check.
        names: the names in the rows; None for positions.

    Returns:
        The rows and warnings.
    """
    result = GradcheckResult()
    outputs = function.outputs()
    shown = names or RowNames([*map(str, function.varied)], [*map(str, range(len(outputs)))])
    for which, array in enumerate(function.arrays):
        if array.dtype not in ("float64", "complex128"):
            result.warnings.append(
                f"input {shown.inputs[which]} is of {array.dtype}: finite differences are only reliable in float64 or "
                "complex128"
            )
    exact = not result.warnings
    odd = _oddities(function, outputs, rule, shown)
    if odd:
        result.rows = odd
        return result
    if rule.fast and exact:
        rows = _projected(function, outputs, shown, rule.atol)
        if all(row.passed for row in rows):
            result.rows = rows
            return result
    sizes = [numbers.size for numbers in reals_of(function.framework, outputs)]
    if rule.cautious and sum(sizes) * sum(array.data.size for array in function.arrays) > MOST_DERIVATIVES:
        result.rows = summed_rows(function, rule, shown, [_direction(size, 100 + o) for o, size in enumerate(sizes)])
        return result
    found = _elementwise(function, outputs, rule, shown)
    return dataclasses.replace(found, warnings=[*result.warnings, *found.warnings])


# -- shape, dtype and determinism of gradients --------------------------------------------------------------


def _oddities(function: FunctionOfInputs, outputs: list[Any], rule: Rule, names: RowNames) -> list[GradientRow]:
    """Return rows for gradients whose shape or dtype differs from their input's, or that differ between runs."""
    rows: list[GradientRow] = []
    for o, output in enumerate(outputs):
        cotangent = _direction(reals_of(function.framework, [output])[0].size, 7 + o)
        once, again = (function.vjp(o, cotangent) for _ in range(2))
        runs = [once, again]
        if rule.strict:
            runs += [function.vjp(o, cotangent, strided=True), function.vjp(o, -cotangent)]
        for i, array in enumerate(function.arrays):
            note, size = _oddity(function, [gradients[i] for gradients in runs], array, rule)
            if note:
                rows.append(
                    GradientRow(*names.of(i, o), passed=False, absolute=size, allowed=rule.nondet_tol, note=note)
                )
    return rows


def _oddity(function: FunctionOfInputs, gradients: list[Any], array: Array, rule: Rule) -> tuple[str, float]:
    """Return a note about what is wrong with the gradients of one input (empty if nothing), and their difference.

    Args:
        function: the function.
        gradients: of two equal runs; a strict rule adds a run with a strided cotangent and one with the negative one.
        array: the input.
        rule: the tolerances.
    """
    if all(one is None for one in gradients):
        return "", 0.0
    if any(one is None for one in gradients):
        return "backward gave a gradient in only some runs", 0.0
    value, repeated, *others = function.framework.values(gradients)
    if value.data.shape != array.data.shape:
        return f"the gradient has shape {value.data.shape}, its input {array.data.shape}", 0.0
    if rule.dtypes and value.dtype != array.dtype:
        return f"the gradient is of {value.dtype}, its input of {array.dtype}", 0.0
    with np.errstate(all="ignore"):
        size = _gap(value.data, repeated.data)
        if size > rule.nondet_tol:
            return f"backward gave another gradient the second time (nondet_tol={rule.nondet_tol:g})", size
        # With another layout, sums may be computed in another order: allow for rounding.
        finite = value.data[np.isfinite(value.data)]
        allowed = rule.nondet_tol + rule.atol + rule.rtol * float(np.abs(finite).max(initial=0.0))
        for other, sign, what in zip(
            others, (1, -1), ("a non-contiguous copy of the same cotangent", LINEAR), strict=False
        ):
            size = _gap(value.data, sign * other.data)
            if size > allowed:
                return f"backward gave another gradient for {what}", size
    return "", 0.0


def _gap(one: Real, other: Real) -> float:
    """Return the greatest difference; infinite if a NaN or an infinity is in one of them only."""
    return float(distance(one, other).max(initial=0.0))


# -- fast ---------------------------------------------------------------------------------------------------


def _projected(function: FunctionOfInputs, outputs: list[Any], names: RowNames, atol: float) -> list[GradientRow]:
    """Return rows with one number for each pair: the Jacobian multiplied by a direction on either side.

    A row fails, too, if it cannot show an error in one derivative, because an input or a result is very large.
    """
    rows: list[GradientRow] = []
    values = reals_of(function.framework, outputs)
    seen = [_direction(value.size, 100 + o) for o, value in enumerate(values)]
    analytic = [function.vjp(o, seen[o]) for o in range(len(outputs))]
    for i, array in enumerate(function.arrays):
        along = _direction(reals(array.data).size, i)
        numeric = function.derivative(i, along, 1e-6)
        for o, value in enumerate(values):
            gradient = analytic[o][i]
            own, scale = 0.0, float(np.abs(numeric[o]).max(initial=0.0))
            if gradient is not None:
                (numbers,) = reals_of(function.framework, [gradient])
                own = float(numbers @ along)
                scale = max(scale, float(np.abs(numbers).max(initial=0.0)))
            other = float(seen[o] @ numeric[o])
            # The accuracy of differences: rounding of the values divided by 2 eps, and a small relative error.
            bound = 1e-8 + 1e-8 * float(np.abs(value).sum()) + 1e-7 * float(np.abs(numeric[o]).sum())
            gap = abs(own - other)
            relative = gap / abs(other) if other else 0.0
            close = gap <= bound <= max(VISIBLE * scale, atol) < np.inf
            rows.append(
                GradientRow(
                    *names.of(i, o),
                    passed=close,
                    absolute=gap,
                    relative=relative,
                    analytic=own,
                    numeric=other,
                    allowed=bound,
                    note="projected",
                )
            )
    return rows


def _direction(size: int, seed: int) -> Real:
    """Return numbers between 1/2 and 1 of either sign: no element gets a weight so small that its error is lost."""
    drawn = np.random.default_rng(seed)
    sized: Real = drawn.uniform(0.5, 1.0, size) * drawn.choice((-1.0, 1.0), size)
    return sized


@np.errstate(all="ignore")
def forward_rows(function: FunctionOfInputs, rule: Rule, names: RowNames, inputs: Sequence[int]) -> list[GradientRow]:
    """Return rows that compare forward mode with differences, along one direction for each varied input in `inputs`.

    There are none if the framework has no forward mode.
    """
    framework = function.framework
    if not framework.provides("function", f"{FORWARD_MODE}.dual_level", None):
        return []
    rows: list[GradientRow] = []
    centre = function.values()
    for i in inputs:
        array = function.arrays[i]
        along = _direction(reals(array.data).size, i)
        numeric = function.derivative(i, along, rule.eps)
        tangent = framework.tensor(Array(from_reals(along, array.data), array.dtype))
        try:
            frozen = function.tangents(function.varied[i], tangent)
        except NotImplementedError:
            continue  # an operator without forward mode
        for o, value in enumerate(frozen):
            analytic = np.zeros(numeric[o].size) if value is None else reals(value.data)
            shape = (numeric[o].size,) if value is None else real_shape(value.data)
            pair = Jacobians(names.of(i, o), analytic[None], numeric[o][None], ((), shape))
            exempt = _nowhere(numeric[o], centre[o])
            if rule.cautious and (failing(analytic, numeric[o], rule.atol, rule.rtol) & ~exempt).any():
                exempt |= ~_refuted_along(function, (i, o), along, analytic, rule)
            rows.append(row_of(pair, rule.atol, rule.rtol, exempt=exempt[None], note="forward mode, projected"))
    return rows


def _refuted_along(function: FunctionOfInputs, pair: tuple[int, int], along: Real, analytic: Real, rule: Rule) -> Real:
    """Return a mask of the derivatives along a direction that differences prove wrong; `pair` is (input, output)."""
    (i, o), drawn = pair, [reals(array.data) for array in function.arrays]
    if has_ties(drawn[i], rule.eps):
        return np.zeros(analytic.shape, dtype=bool)
    extent = magnitude_of([*drawn, *function.values()])
    line = Line(lambda step: function.at(i, drawn[i] + step * along)[o], *extent, magnitude_of([drawn[i]])[0])
    wrong: Real = refuted(analytic, line, rule)[0]
    if wrong.any() and is_rough(lambda step: function.between(i, drawn[i] + step * along, o), rule, analytic[wrong]):
        wrong[:] = False
    return wrong


# -- slow ---------------------------------------------------------------------------------------------------


def _elementwise(function: FunctionOfInputs, outputs: list[Any], rule: Rule, names: RowNames) -> GradcheckResult:
    """Return a row for each pair, with the warnings and the number of undefined derivatives."""
    result = GradcheckResult()
    frozen = function.framework.values(outputs)
    sizes = [reals(value.data).size for value in frozen]
    analytic, missing = _analytic(function, sizes)
    centre = function.values()
    for i, array in enumerate(function.arrays):
        count = reals(array.data).size
        numeric = [np.zeros((count, size)) for size in sizes]
        for k, differences in enumerate(function.differences(i, rule.eps)):
            for o, one in enumerate(differences):
                numeric[o][k] = one
        for o, value in enumerate(frozen):
            shapes = real_shape(array.data), real_shape(value.data)
            pair = Jacobians(names.of(i, o), analytic[i][o], numeric[o], shapes)
            exempt, note = _exempted(JacobianBlock(function, i, o, rule), pair, centre[o], result)
            note = note or ("no gradient" if missing[i][o] else "")
            result.rows.append(row_of(pair, rule.atol, rule.rtol, exempt=exempt, note=note))
    return result


def _exempted(block: JacobianBlock, pair: Jacobians, centre: Real, result: GradcheckResult) -> tuple[Real, str]:
    """Return a mask of the derivatives that count as passing, and a remark; add warnings and counts to `result`."""
    exempt, note = _nowhere(pair.numeric, centre), ""
    place = f"input {pair.names[0]}, output {pair.names[1]}"
    if block.rule.cautious:
        unproven, coarse = block.unproven(pair.analytic, pair.numeric, exempt)
        exempt |= unproven | coarse
        if unproven.any():
            note = f"{int(unproven.sum())} where finite differences prove nothing"
        if coarse.any():
            note = LOWER
            result.warnings.append(
                f"{place}: the function computes in lower precision than its input, so it was compared with "
                "differences over a longer distance"
            )
        return exempt, note
    result.undefined += int(exempt.sum())
    kinks = block.at_a_kink(pair.analytic, pair.numeric, centre)
    if kinks.any():
        met = int(kinks.sum())
        note = f"{met} at a kink"
        result.warnings.append(
            f"{place}: {several(met, 'derivative')} {were(met)} taken at a kink, where any value between the two "
            "one-sided derivatives is right"
        )
    return exempt | kinks, note


def _nowhere(numeric: Real, centre: Real) -> Real:
    """Return a mask of the derivatives that do not exist because the function's value, `centre`, is not finite."""
    mask: Real = np.isnan(numeric) & ~np.isfinite(centre)
    return mask


def _analytic(function: FunctionOfInputs, sizes: list[int]) -> tuple[list[list[Real]], list[list[bool]]]:
    """Return Jacobians ``[input][output]``, one backward pass per output element, and a table of missing gradients."""
    counts = [reals(array.data).size for array in function.arrays]
    jacobians = [[np.zeros((count, size)) for size in sizes] for count in counts]
    missing = [[size > 0 for size in sizes] for _ in counts]
    for o in range(len(sizes)):
        for j in range(sizes[o]):
            unit = np.zeros(sizes[o])
            unit[j] = 1.0
            for i, gradient in enumerate(function.vjp(o, unit)):
                if gradient is not None:
                    jacobians[i][o][:, j] = reals_of(function.framework, [gradient])[0]
                    missing[i][o] = False
    return jacobians, missing
