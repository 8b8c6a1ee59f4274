"""Distinguishes rounding errors that grow over the steps of a training from real differences between the sides."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.base.settings import Settings
from autotest.comparison import Comparison, Mismatch, TensorValue, compare_values
from autotest.comparison.elementwise import Values, differing, distance
from autotest.diagnosis.attribution import referee
from autotest.diagnosis.attribution.lockstep import Gradients, first_divergent, gradients_before, gradients_of_steps
from autotest.diagnosis.attribution.verdict import Verdict
from autotest.diagnosis.rounding.double_precision import as_array
from autotest.diagnosis.rounding.perturbation import RUNS, perturbed
from autotest.diagnosis.rounding.roundoff import ROUNDOFF
from autotest.frameworks import Framework, Pair
from autotest.program import Array, Program
from autotest.program.rewriting import upto, with_arrays
from autotest.program.semantics import is_step
from autotest.replaying.agreement import Agreement, agree, results
from autotest.replaying.rates import with_rates
from autotest.replaying.replay import Place
from autotest.replaying.updates import Updates
from generators.dtypes import cast

#: The largest allowed ratio of the gap between the sides to the spread of the reference when its inputs change by a
#: roundoff. With RUNS runs, the ratio of one element follows Student's t distribution with 8 degrees of freedom, which
#: exceeds 16 in 1 of 4 million cases.
_TIMES = 16.0


def cleared(agreement: Agreement, pair: Pair, settings: Settings, updates: Updates) -> Verdict | None:
    """Return the verdict that the mismatches of a recorded training are rounding, or None if that cannot be shown.

    If the optimizers' updates agree, mismatches are rounding if all of these conditions are true:

    - All results before the first step agree.
    - Every call agrees on the reference's operands, and every gradient before a step on the reference's parameters.
    - The reference itself ends about as far away if its inputs are perturbed by a roundoff, or its gradients by the
      error of the candidate's gradients.

    Args:
        agreement: the mismatches of the training.
        pair: the reference and the candidate.
        settings: the settings of the test.
        updates: the comparison of the optimizers' updates on the same gradients.
    """
    program = agreement.program
    begin = next((call.slot for call in program.calls if is_step(call)), None)
    if begin is None or updates.wrong is not None or not updates.checked:
        return None
    if not referee.may_be_rounding(agreement.mismatches):
        return None
    before = agree(upto(program, begin), pair, settings)
    if before.mismatches and referee.cleared(before, pair, settings) is None:
        return None
    if first_divergent(program, pair, settings) is not None:
        return None
    steps = gradients_of_steps(program, pair, settings)
    if steps is None:
        return None
    doubted = _doubted(steps, settings)
    if not all(map(referee.may_be_rounding, doubted.values())):
        return None
    slots = {item.slot for item in agreement.mismatches}
    before_steps = {slot for slot, _ in doubted}
    runs = [_run(_moved(program, pair, run, updates), pair.reference, slots, before_steps) for run in range(RUNS)]
    if any(_is_wrong(place, steps, runs, found[0]) for place, found in doubted.items()):
        return None
    runs.append(_run(program, pair.reference, slots, others=steps))
    worst = max((_ratio_at(agreement, item, runs) for item in agreement.mismatches), default=0.0)
    if worst > _TIMES:
        return None
    reference, candidate = pair.sides
    line = "rounding, accumulated over the steps: each call and each step agrees when both sides get the same operands"
    number = (
        f"the difference between {candidate} and {reference} is {worst:.3g} times the change of {reference} when its "
        f"inputs change by one roundoff ({_TIMES:.3g} times allowed)"
    )
    return Verdict("rounding", line, (number,))


@dataclasses.dataclass(frozen=True, slots=True)
class _Run:
    """Some results of one run of the reference, and the gradients before some of its steps."""

    results: Mapping[Place, Any]
    gradients: Mapping[int, Sequence[TensorValue | None]]


def _run(
    program: Program,
    framework: Framework,
    slots: Collection[int],
    before_steps: Collection[int] = (),
    others: Mapping[int, Gradients] = MappingProxyType({}),
) -> _Run:
    """Run `program` once.

    Args:
        program: the program to run.
        framework: the framework to run it on.
        slots: the slots whose results are read.
        before_steps: the slots of the steps before which gradients are read.
        others: the gradients of both sides before each step, by slot; the error of the candidate's is added to the
            gradients of the run.
    """
    found: dict[int, Sequence[TensorValue | None]] = {}
    steps = {call.slot: call for call in program.calls if is_step(call)}

    def between_calls(at: int, values: list[Any]) -> None:
        if at not in steps:
            return
        optimizer = values[steps[at].args[0].slot]
        if at in before_steps:
            found[at] = gradients_before(framework, optimizer)
        for tensor, (own, other) in zip(framework.optimized(optimizer), others.get(at, ()), strict=False):
            if own is not None and other is not None:
                gradient = framework.gradient(tensor)
                now = framework.values([gradient])[0].data
                framework.overwrite(gradient, Array(np.asarray(now + (other.data - own.data)), own.dtype))

    return _Run(results(program, framework, between_calls, slots=slots), found)


def _moved(program: Program, pair: Pair, run: int, updates: Updates) -> Program:
    """Return `program` with about half of its inputs changed by a roundoff.

    If the candidate keeps its rates in single precision, the rates are changed by their rounding error, too.
    """
    arrays = [_perturbed(array, run * len(program.arrays) + at) for at, array in enumerate(program.arrays)]
    moved = with_arrays(program, arrays)
    if not updates.single:
        return moved
    random = np.random.Generator(np.random.SFC64(run))

    def rate(name: str, number: float) -> float:
        # The relative error of an update has the same effect as one of the learning rate.
        most = max(ROUNDOFF["float32"], updates.error if name == "lr" else 0.0)
        return number * (1 + most * random.uniform(-1, 1))

    return with_rates(moved, pair.reference, rate)


def _perturbed(array: Array, seed: int) -> Array:
    # Neighbouring numbers of a dtype are at most twice the roundoff apart.
    moved = perturbed([array], 2 * ROUNDOFF.get(array.dtype, 0.0), seed)[0]
    return dataclasses.replace(moved, data=cast(moved.data, array.dtype))


def _doubted(steps: Mapping[int, Gradients], settings: Settings) -> dict[tuple[int, int], Sequence[Mismatch]]:
    """Return the mismatches of each gradient that differs, by the slot of the step after it and its number there."""
    found: dict[tuple[int, int], Sequence[Mismatch]] = {}
    for slot, gradients in steps.items():
        how = Comparison("backward", settings.gradient_tolerance, slot)
        for at, (own, other) in enumerate(gradients):
            mismatches = compare_values("", own, other, how)
            if mismatches:
                found[slot, at] = mismatches
    return found


def _is_wrong(place: tuple[int, int], steps: Mapping[int, Gradients], runs: Sequence[_Run], found: Mismatch) -> bool:
    """Whether the gradient at `place`, whose mismatch is `found`, has more error than rounding explains."""
    slot, at = place
    own, other = steps[slot][at]
    if own is None or other is None:
        return True
    moved = [run.gradients[slot][at] for run in runs if slot in run.gradients]
    return _ratio(own.data, other.data, [None if one is None else one.data for one in moved], found) > _TIMES


def _ratio_at(agreement: Agreement, item: Mismatch, runs: Sequence[_Run]) -> float:
    place = item.at
    expected, actual = (as_array(one) for one in agreement.read().get(place, (None, None)))
    if expected is None or actual is None:
        return float("inf")
    return _ratio(expected, actual, [as_array(run.results.get(place)) for run in runs], item)


def _ratio(expected: Values, actual: Values, moved: Sequence[Values | None], item: Mismatch) -> float:
    """Return the ratio of the gap between the sides to the reference's spread, at the worst mismatched element."""
    same = [one for one in moved if one is not None and one.shape == expected.shape]
    if len(same) < len(moved) or not same or actual.shape != expected.shape:
        return float("inf")
    spread = np.sqrt(np.mean(np.stack([distance(expected, one) ** 2 for one in same]), axis=0))
    numbers = item.statistics
    mask = np.ones(expected.shape, bool)
    if numbers is not None:
        mask = differing(expected, actual, numbers.rtol, numbers.atol)
    with np.errstate(all="ignore"):
        # An element that did not change by chance gets the spread of the array.
        ratio = distance(expected, actual) / np.maximum(spread, np.sqrt(np.mean(spread**2)))
    return float(np.nan_to_num(ratio[mask], nan=np.inf).max(initial=0.0))
