"""Compares the trials that have run: their results, their masks, their steps, and numeric gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from autotest.base.errors import NotReplayable
from autotest.base.settings import Settings
from autotest.comparison import Mismatch
from autotest.frameworks.failures import CandidateDied, CandidateHung
from autotest.gradients import differentiable, gate
from autotest.recording.observation import compare, failed_there, observe
from autotest.recording.steps import may_be_of_a_step
from autotest.replaying.replay import Replayed, replay
from autotest.trials.outcome import Outcome
from autotest.trials.special_values import mark_special
from autotest.trials.zeros_passing import zeros_passing

# pytest and unittest leave this module out of the traceback of a failed test.
__tracebackhide__ = True
__unittest = True

#: Maximum number of trials of an asynchronous candidate that are compared together. If the process dies, any of them
#: may be the cause.
COMPARED_AT_ONCE = 20  # the default number of trials of a test


def compare_outcomes(outcomes: Sequence[Outcome], settings: Settings, masks: set[object] | None = None) -> None:
    """Compare all outcomes that are not compared yet together: the second half of `run_trial`.

    `masks` are the calls whose masks earlier trials of the test compared, see `compared_masks`; it is extended. After
    a trial in which the candidate hangs, the remaining trials are not compared, because they may hang, too.
    """
    open_ones = [outcome for outcome in outcomes if outcome.pending is not None]
    if not open_ones:
        return
    try:
        found = compare([outcome.pending for outcome in open_ones if outcome.pending is not None], settings)
    except CandidateDied:  # in one of the trials: each is replayed on its own
        found = list(_replayed_one_by_one(open_ones, settings))
    masks = set() if masks is None else masks
    wide = settings.may_pass_zeros
    for outcome, mismatches in zip(open_ones, found, strict=False):
        if wide and outcome.pending is not None:
            outcome.zeros = zeros_passing(outcome.pending, settings)
        outcome.pending = None
        _complete(outcome, mismatches, settings, masks)


def _complete(outcome: Outcome, mismatches: list[Mismatch], settings: Settings, masks: set[object]) -> None:
    """Add to `outcome` the `mismatches` of its results, and what the remaining checks find."""
    recorder = outcome.recorder
    outcome.mismatches = mark_special(recorder, mismatches, settings) if mismatches else []
    if recorder.rejection is not None and not mismatches:  # the candidate reported the rejection only now
        outcome.rejection = recorder.rejection
        return
    if recorder.drawn and not (mismatches and may_be_of_a_step(recorder, outcome.mismatches)):
        from autotest.trials.behind_masks import compared_behind_masks

        behind = compared_behind_masks(recorder, outcome.mismatches, settings)
        if behind is not None:
            outcome.mismatches, outcome.repaired_program = behind
            return
        from autotest.trials.masks_compared import compared_masks

        unlike = compared_masks(recorder, settings, masks) if not mismatches else None
        if unlike is not None:
            outcome.mismatches, outcome.repaired_program = unlike
            return
    # A trial with mismatches may have ended early, so that the gradients it would have compared are unknown.
    if not mismatches:
        outcome.complaint = _complaint(outcome, settings)
        if settings.check_grad in ("numeric", "forward"):
            _check_numerically(outcome, settings)
    # A tolerance set by the test decides, although it is coarser than a comparison of single steps.
    numbers = settings.check_values and recorder.pair.reference.holds_values and recorder.pair.candidate.holds_values
    if numbers and may_be_of_a_step(recorder, outcome.mismatches) and not settings.gives_tolerance:
        from autotest.replaying.updates import check_updates

        outcome.updates = check_updates(recorder)
        outcome.mismatches = [*([outcome.update.mismatch] if outcome.update else []), *outcome.mismatches]


def _replayed_one_by_one(outcomes: Sequence[Outcome], settings: Settings) -> Iterator[list[Mismatch]]:
    """Replay each trial after the candidate died, and yield its mismatches, up to the first one that hangs."""
    for outcome in outcomes:
        record, candidate, run = outcome.recorder, outcome.recorder.pair.candidate, 0

        def between_calls(count: int, values: list[Any]) -> None:
            nonlocal run
            run = count
            candidate.synchronize()  # noqa: B023 - called within this turn

        try:
            again = replay(outcome.program, candidate, between_calls=between_calls)
        except CandidateDied as error:
            again = Replayed(candidate, [], error, run - 1)
        record.actual = [*again.values, *[None] * (len(record.calls) - len(again.values))]
        if again.error is None:
            yield compare([observe(record)], settings)[0]
        else:
            yield failed_there(record, again.failed_at or 0, again.error)
            if isinstance(again.error, CandidateHung):
                return


def _check_numerically(outcome: Outcome, settings: Settings) -> None:
    from autotest.gradients.numeric_check import NumericResult, check_numerically
    from autotest.trials.behind_masks import repeatable

    recorder = outcome.recorder
    try:
        program = repeatable(recorder)
        found = check_numerically(program, recorder.pair, settings)
        outcome.repaired_program = program if found.mismatches and recorder.drawn else None
    except NotReplayable as error:
        found = NumericResult(unchecked=str(error))
    outcome.mismatches, outcome.numeric_pairs, outcome.too_small_inputs = found.mismatches, found.pairs, found.small
    if found.rejection is not None and not found.mismatches:
        outcome.rejection = found.rejection
    if found.unchecked and not (found.mismatches or settings.skip_grad):
        asked = f"check_grad={settings.check_grad!r} cannot be done: {found.unchecked}"
        outcome.complaint = outcome.complaint or asked


def _complaint(outcome: Outcome, settings: Settings) -> str:
    recorder, gradients = outcome.recorder, outcome.gradients
    if outcome.leaves_out_gradients or (gradients and differentiable.surely_compared(recorder)):
        return ""
    evidence = differentiable.examine(recorder, gradients)
    return gate.complaint(evidence, auto_backward=bool(settings.auto_backward), skipped=settings.skip_grad)
