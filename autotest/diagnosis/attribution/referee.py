"""Finds the side that is wrong: replays in double precision, with perturbed inputs, and a second time for noise."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from autotest.base.settings import Settings
from autotest.comparison import Mismatch, TensorValue
from autotest.comparison.elementwise import Statistics, differing, distance
from autotest.diagnosis.attribution.changed_operands import changing_operator
from autotest.diagnosis.attribution.locating import Located, locate
from autotest.diagnosis.attribution.ties import beside_ties, ties
from autotest.diagnosis.attribution.unrolled import on_layers
from autotest.diagnosis.attribution.verdict import (
    HARMLESS,
    Evidence,
    Verdict,
    amplified_alike,
    amplified_by_reference,
    judge,
)
from autotest.diagnosis.attribution.voting import votes, weighed
from autotest.diagnosis.oracles.forward_oracles import opinions
from autotest.diagnosis.oracles.gradient_oracle import numeric_gradient
from autotest.diagnosis.rounding.double_precision import DoublePrecision
from autotest.diagnosis.rounding.error_noise import error_spreads
from autotest.diagnosis.rounding.refused_in_single_precision import refuses_single_precision_alone
from autotest.diagnosis.rounding.single_precision import narrowed, shrink_with_the_roundoff
from autotest.frameworks import Pair
from autotest.program.semantics import returns_gradients, returns_new_memory
from autotest.replaying.agreement import Agreement, agree, results_of_side
from autotest.replaying.replay import Place


@dataclasses.dataclass(frozen=True, slots=True)
class Opinion:
    """The verdict on a program, and the call to which it applies."""

    verdict: Verdict
    located: Located
    #: The whole program in double precision, which runs only if it is needed.
    double: DoublePrecision


def examine(agreement: Agreement, pair: Pair, settings: Settings) -> Opinion:
    """Return the opinion on the first mismatch of `agreement`."""
    first = agreement.mismatches[0]
    program = agreement.program
    located = locate(program, pair, settings, first, agreement)
    alone = located.alone
    # The evidence is about the program of the divergent call alone, if that is smaller.
    focus = alone if alone is not None and len(alone.program.calls) < len(program.calls) else agreement
    double = DoublePrecision(agreement, pair, settings)
    of_focus = double if focus is agreement else DoublePrecision(focus, pair, settings)
    verdict = judge(_evidence(focus, located, pair, settings, of_focus))
    if verdict.weak and focus is not agreement:
        # The call alone may lack what decides: the whole program has more to differentiate, or other dtypes.
        again = judge(_evidence(agreement, located, pair, settings, double))
        verdict = verdict if again.weak else again
    if verdict.blame not in HARMLESS:
        double.free_spreads()
    if pair.others:
        shown = focus.mismatches[0]
        verdict = weighed(verdict, votes(focus, shown.at, shown, pair, settings), pair.sides)
    if located.change is not None:
        told = f"after {located.change.operator}, {located.change.told}"
        verdict = dataclasses.replace(verdict, numbers=(told, *verdict.numbers))
    return Opinion(verdict, located, double)


def cleared(agreement: Agreement, pair: Pair, settings: Settings) -> Verdict | None:
    """Return the verdict that explains all mismatches in `agreement` as harmless, or None if some are not."""
    if not may_be_rounding(agreement.mismatches):
        return None
    verdict, left = settled(agreement, examine(agreement, pair, settings), pair, settings)
    return None if left else verdict


def may_be_rounding(mismatches: Sequence[Mismatch]) -> bool:
    """Return whether `mismatches` are of values and gradients only."""
    return all(item.of_numbers for item in mismatches)


def is_final(item: Mismatch, settings: Settings) -> bool:
    """Return whether `item` counts although it may be rounding, because the test gave the tolerance of its values."""
    numbers = item.statistics
    return settings.gives_tolerance if numbers is None else settings.is_final_at(item.stage, numbers.tolerated_as)


def explained(agreement: Agreement, opinion: Opinion, pair: Pair) -> tuple[Verdict | None, list[Mismatch]]:
    """Return the harmless verdict on the first mismatch of `agreement`, and those that ties or rounding do not explain.

    Args:
        agreement: the mismatches.
        opinion: the opinion on the first of them.
        pair: the reference and the candidate.

    Returns:
        The verdict, or None if the first mismatch is not harmless; and the mismatches that count.
    """
    if opinion.verdict.blame not in HARMLESS:
        return None, agreement.mismatches
    tied = opinion.verdict.blame == "ties"
    open_ones = beside_ties(agreement, opinion.located.slot, pair) if tied else agreement.mismatches
    left = [item for item in open_ones if not _is_rounding(item, opinion)]
    return (None if left and left[0] is agreement.mismatches[0] else opinion.verdict), left


def settled(
    agreement: Agreement, opinion: Opinion, pair: Pair, settings: Settings
) -> tuple[Verdict | None, list[Mismatch]]:
    """Return what `explained` returns; where it does not explain all, of a related program if that does.

    Between the layers of a Sequential are values that it does not show. The gradient of a bias before a normalisation
    is zero, whatever the inputs are, so that only a change of the gradient that reaches the layer shows its rounding.
    Rounding in double precision shows only in single precision, where there is a more precise result.
    """
    verdict, left = explained(agreement, opinion, pair)
    if not left:
        return verdict, left
    layers = on_layers(agreement, pair, settings)
    if layers is not agreement:
        of_layers, remaining = explained(layers, examine(layers, pair, settings), pair)
        if not remaining:
            return of_layers, []
    of_single = _in_single_precision(agreement, left, pair, settings)
    return (verdict, left) if of_single is None else (of_single, [])


def _in_single_precision(agreement: Agreement, left: list[Mismatch], pair: Pair, settings: Settings) -> Verdict | None:
    """Return the harmless verdict on the program in single precision, or None if `left` does not shrink as it would."""
    program = narrowed(agreement.program)
    if program is None:
        return None
    single = agree(program, pair, settings)
    if single.refused or not single.mismatches or not may_be_rounding(single.mismatches):
        return None
    if not shrink_with_the_roundoff(left, agreement, single):
        return None
    verdict, remaining = explained(single, examine(single, pair, settings), pair)
    return None if remaining else verdict


def on_the_whole(agreement: Agreement, opinion: Opinion, pair: Pair, settings: Settings) -> Opinion:
    """Return the opinion on a mismatch that counts, judged by the whole program, if `opinion` calls it harmless.

    An opinion is about the divergent call alone, which may show another mismatch of the same kind than the program.
    """
    if opinion.verdict.blame not in HARMLESS or opinion.located.alone is None:
        return opinion
    located = dataclasses.replace(opinion.located, alone=None, alone_slot=0)
    verdict = judge(_evidence(agreement, located, pair, settings, opinion.double))
    return opinion if verdict.blame in HARMLESS else Opinion(verdict, located, opinion.double)


def _is_rounding(item: Mismatch, opinion: Opinion) -> bool:
    """Whether rounding explains `item`, given that it explains the first mismatch."""
    double, located = opinion.double, opinion.located
    measured = double.measured(item)
    if measured is None:
        return False
    if measured.is_rounding or (measured.seen_to_agree and _is_small(item)):
        return True
    # If equal elements reach the divergent call, as after `expand`, perturbed inputs move them together. How the call
    # amplifies independent errors shows only when its own operands are perturbed.
    moved = double.measured(item, into=double.computations if located.slot is None else (located.slot,))
    if moved is not None and moved.is_rounding:
        return True
    spreads = error_spreads(double.program, double.pair, item.at, measured)
    if amplified_alike(measured, spreads) or amplified_by_reference(measured, spreads):
        return True
    within = measured.seen_to_agree and max(measured.errors) <= double.cancellation
    return within and (located.slot is None or located.alone is not None)


def _evidence(focus: Agreement, located: Located, pair: Pair, settings: Settings, double: DoublePrecision) -> Evidence:
    first = focus.mismatches[0]
    evidence = Evidence(first.symptom, pair.sides, each_agrees=located.slot is None)
    if first.symptom == "accepted":
        alone = refuses_single_precision_alone(focus.program, pair.reference)
        return dataclasses.replace(evidence, refused_in_single_precision=alone)
    if first.symptom in ("exception", "out of memory"):
        return evidence
    place = first.at
    evidence = dataclasses.replace(evidence, **_noise(focus, place, pair, first))
    if max(evidence.noise) > evidence.tolerated:
        return evidence
    writer = located.alone_slot if focus is located.alone else located.slot
    changed_by = changing_operator(focus.program, place, writer, pair) if first.symptom == "value" else ""
    if changed_by:
        return dataclasses.replace(evidence, changed_by=changed_by)
    measured = double.measured(first)
    if located.slot is None and measured is not None and not measured.is_rounding:
        # No call is wrong. The rounding of a saturated result may be all that is left, which changes of the inputs do
        # not show: ``log(1 - sigmoid(12))``.
        moved = double.measured(first, into=double.computations)
        measured = moved if moved is not None and moved.is_rounding else measured
    evidence = dataclasses.replace(
        evidence, measured=measured, cancellation=double.cancellation, small=_is_small(first)
    )
    evidence = dataclasses.replace(evidence, error_spreads=error_spreads(focus.program, pair, place, measured))
    if first.symptom == "value" and ties(focus, place, pair):
        return dataclasses.replace(evidence, ties=True)
    if not is_final(first, settings) and measured is not None and measured.is_rounding:
        return evidence  # no side is accused of rounding; the oracles would take as long as all the rest
    if first.stage == "backward" or returns_gradients(focus.program.calls[place[0]]):
        oracle, kink = numeric_gradient(double.wide, double.wide_place(place), pair)
        return dataclasses.replace(evidence, oracles=() if oracle is None else (oracle,), kink=kink)
    if first.symptom == "dtype":
        found = opinions(focus.program, place, pair, about=("dtype",), writer=writer)
    else:
        at = None if writer is None else double.wide_place((writer, ""))[0]
        wide, sides = double.wide, double.sides if not double.one_sided else double.own_sides
        found = opinions(wide, double.wide_place(place), pair, about=(first.symptom,), writer=at, given=sides)
    return dataclasses.replace(evidence, oracles=found)


def _is_small(mismatch: Mismatch) -> bool:
    """Whether `mismatch` would be tolerated for numbers around 1, and is one only because its numbers are small."""
    numbers = mismatch.statistics
    return numbers is not None and numbers.atol < numbers.usual_atol and numbers.greatest_abs <= numbers.usual_atol


def _noise(focus: Agreement, place: Place, pair: Pair, first: Mismatch) -> dict[str, Any]:
    """Return the fields of `Evidence` about the noise of each side at `place`."""
    noise = []
    numbers = first.statistics  # None of a dtype, a shape or a layout, which no noise in the values explains
    for side, at in ((pair.reference, 0), (pair.candidate, 1)):
        once = focus.read().get(place, (None, None))[at]
        again = results_of_side(focus.program, side, pair, place).get(place)
        noise.append(0.0 if numbers is None else _self_noise(once, again, numbers))
    tolerated = 0.0 if numbers is None else numbers.atol + numbers.rtol * abs(_real(numbers.abs_expected))
    in_new_memory = first.symptom == "value" and returns_new_memory(focus.program.calls[place[0]])
    return {"noise": (noise[0], noise[1]), "tolerated": tolerated, "in_new_memory": in_new_memory}


def _real(value: Any) -> float:
    number = float(np.abs(value))  # not abs(), which raises OverflowError for some complex NaNs
    return number if np.isfinite(number) else 0.0


def _self_noise(once: Any, again: Any, numbers: Statistics) -> float:
    """Return the greatest difference of two runs, among the elements whose own tolerance it exceeds."""
    if type(once) is not TensorValue or type(again) is not TensorValue or once.data.shape != again.data.shape:
        return 0.0
    beyond = differing(once.data, again.data, numbers.rtol, numbers.atol)
    return float(distance(once.data, again.data)[beyond].max(initial=0.0))
