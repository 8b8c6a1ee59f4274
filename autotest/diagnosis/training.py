"""Tells rounding that grows with the steps of a training from what the sides do otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from autotest.base.settings import Settings
from autotest.comparison import Comparison, Mismatch, TensorValue, compare_values
from autotest.comparison.elementwise import differing, distance
from autotest.diagnosis import referee
from autotest.diagnosis.agreement import Agreement, Place, agree, place_of, results
from autotest.diagnosis.double_precision import RUNS, as_array, nudged
from autotest.diagnosis.lockstep import Gradients, first_divergent, gradients_before, gradients_of_steps
from autotest.diagnosis.roundoff import ROUNDOFF
from autotest.diagnosis.verdict import Verdict
from autotest.frameworks import Framework, Pair
from autotest.program import Array, Program
from autotest.program.rewriting import upto, with_arrays
from autotest.program.semantics import is_step
from autotest.replaying.rates import with_rates
from autotest.replaying.updates import Updates

#: How many times as far as the reference moves, when its inputs move by a roundoff, the candidate may be from it. What
#: RUNS runs say of one element is known to Student's t with 8 degrees of freedom, which passes 16 in 1 of 4 million.
_TIMES = 16.0

_Values: TypeAlias = np.ndarray[Any, Any]


def cleared(agreement: Agreement, pair: Pair, settings: Settings, updates: Updates) -> Verdict | None:
    """Why nothing in a training that was recorded is anybody's fault, or None when that cannot be said.

    `updates` are those of its optimizers, held against the reference's on the same gradients. When these agree, it is
    rounding if all that comes before the first step agrees; if every call does on the reference's operands, and every
    gradient that a step is given on its parameters; and if the reference itself ends as far away, when its inputs are
    moved by a roundoff, or its gradients by what the candidate's are off by.
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
    runs = [_run(_moved(program, pair, number, updates), pair.reference) for number in range(RUNS)]
    if any(_is_wrong(slot, gradients, runs, settings) for slot, gradients in steps.items()):
        return None
    runs.append(_run(program, pair.reference, steps))
    worst = max((_ratio_at(agreement, item, runs) for item in agreement.mismatches), default=0.0)
    if worst > _TIMES:
        return None
    reference, candidate = pair.sides
    line = "rounding, grown with the steps: every call and every step agrees when it is given the same operands"
    number = (
        f"{candidate} is {worst:.3g} times as far from {reference} as that is from itself when its inputs move by a "
        f"roundoff ({_TIMES:.3g} allowed)"
    )
    return Verdict("rounding", line, (number,))


@dataclasses.dataclass(frozen=True, slots=True)
class _Run:
    """What one run of the reference gave, and what its steps found in the gradients."""

    results: Mapping[Place, Any]
    gradients: Mapping[int, Sequence[TensorValue | None]]


def _run(program: Program, framework: Framework, others: Mapping[int, Gradients] | None = None) -> _Run:
    """One run of `program`; with `others`, what the candidate's gradients are off by is added before each step."""
    found: dict[int, Sequence[TensorValue | None]] = {}
    steps = {call.slot: call for call in program.calls if is_step(call)}

    def look(at: int, values: list[Any]) -> None:
        if at not in steps:
            return
        optimizer = values[steps[at].args[0].slot]
        found[at] = gradients_before(framework, optimizer)
        for tensor, (own, other) in zip(framework.optimized(optimizer), (others or {}).get(at, ()), strict=False):
            if own is not None and other is not None:
                gradient = framework.gradient(tensor)
                now = framework.values([gradient])[0].data
                framework.overwrite(gradient, Array(np.asarray(now + (other.data - own.data)), own.dtype))

    return _Run(results(program, framework, look), found)


def _moved(program: Program, pair: Pair, run: int, updates: Updates) -> Program:
    """`program` with about half of its inputs moved by a roundoff, and rates as the candidate's are."""
    arrays = [_beside(array, run * len(program.arrays) + at) for at, array in enumerate(program.arrays)]
    moved = with_arrays(program, arrays)
    if not updates.single:
        return moved
    random = np.random.Generator(np.random.SFC64(run))

    def rate(name: str, number: float) -> float:
        # What a step makes of its gradients is off by as much as a learning rate is.
        most = max(ROUNDOFF["float32"], updates.error if name == "lr" else 0.0)
        return number * (1 + most * random.uniform(-1, 1))

    return with_rates(moved, pair.reference, rate)


def _beside(array: Array, seed: int) -> Array:
    # Twice the roundoff is what numbers of a dtype are apart, at most.
    moved = nudged([array], 2 * ROUNDOFF.get(array.dtype, 0.0), seed)[0]
    return dataclasses.replace(moved, data=moved.data.astype(array.data.dtype))


def _is_wrong(slot: int, gradients: Gradients, runs: Sequence[_Run], settings: Settings) -> bool:
    """Whether a gradient that the step at `slot` is given is off by more than rounding."""
    how = Comparison("backward", settings.gradient_tolerance, slot)
    for at, (own, other) in enumerate(gradients):
        found = compare_values("", own, other, how)
        if not found:
            continue
        if own is None or other is None or not referee.may_be_rounding(found):
            return True
        moved = [run.gradients[slot][at] for run in runs if slot in run.gradients]
        if _ratio(own.data, other.data, [None if one is None else one.data for one in moved], found[0]) > _TIMES:
            return True
    return False


def _ratio_at(agreement: Agreement, item: Mismatch, runs: Sequence[_Run]) -> float:
    place = place_of(item)
    expected, actual = (as_array(one) for one in agreement.read().get(place, (None, None)))
    if expected is None or actual is None:
        return float("inf")
    return _ratio(expected, actual, [as_array(run.results.get(place)) for run in runs], item)


def _ratio(expected: _Values, actual: _Values, moved: Sequence[_Values | None], item: Mismatch) -> float:
    """How many times as far the sides are apart as the reference moves, at the worst element that mismatched."""
    same = [one for one in moved if one is not None and one.shape == expected.shape]
    if len(same) < len(moved) or not same or actual.shape != expected.shape:
        return float("inf")
    spread = np.sqrt(np.mean(np.stack([distance(expected, one) ** 2 for one in same]), axis=0))
    numbers = item.statistics
    mask = np.ones(expected.shape, bool)
    if numbers is not None:
        mask = differing(expected, actual, numbers.rtol, numbers.atol)
    with np.errstate(all="ignore"):
        # An element that stood still by chance moves as those beside it do.
        ratio = distance(expected, actual) / np.maximum(spread, np.sqrt(np.mean(spread**2)))
    return float(np.nan_to_num(ratio[mask], nan=np.inf).max(initial=0.0))


__all__ = ["cleared"]
