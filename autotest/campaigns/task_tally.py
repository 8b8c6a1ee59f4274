"""Adds up the results of the trials of one task of a campaign."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from autotest.base.errors import NothingCompared
from autotest.diagnosis.failed_trial import FailedTrial
from autotest.program import Call
from autotest.replaying import graph_check
from autotest.report import text
from autotest.results import coverage
from autotest.results.identity import Identity
from autotest.results.tasks import SET_ASIDE, DrawnTrial, Explored, Suspect
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test
from autotest.trials.input_features import features_of, refused_features_of
from autotest.trials.judgement import (
    Cleared,
    Diverged,
    Expected,
    GradientMissing,
    Judgement,
    Vacuous,
    identity_of_trial,
)
from autotest.trials.outcome import Outcome

_PLAIN = frozenset((type(None), bool, int, str))
#: Calls that are not counted as operators: they say nothing about what a test covers.
_NOT_COUNTED = frozenset(("__call__", "backward", "autograd.backward", "requires_grad_"))


@dataclasses.dataclass(frozen=True, slots=True)
class TaskTally:
    """Accumulator that adds the results of trials of `test` to the `result` of their task."""

    test: Test
    context: RunContext
    result: Explored
    #: Whether to count the features of the operators' arguments.
    counted: bool
    #: Whether to add what each trial drew.
    drawn: bool = False

    def add(self, outcome: Outcome, index: int) -> None:
        """Add the result of one trial."""
        result = self.result
        result.compared += outcome.compared
        rejection = outcome.rejection
        if self.drawn and not (rejection is not None and rejection.type == SET_ASIDE):
            result.drawn.append(DrawnTrial(index, outcome.features, refused=outcome.refused_body))
        judgement = self._judged(outcome, index)
        if isinstance(judgement, Vacuous):  # a mistake in the test, as under pytest
            said = text.nothing_compared(outcome.seed, index, outcome.recorder.other_tests)
            result.vacuous = index
            raise NothingCompared(self.test.id, said)
        refusal = outcome.recorder.rejection
        if refusal is not None and not isinstance(judgement, Expected):
            if refusal.type == SET_ASIDE:
                result.avoided[refusal.target] += 1
            else:
                result.rejections[refusal.reason] += 1
                result.places.setdefault(refusal.reason, refusal.place)
                if not self.test.settings.skip_grad:
                    result.gradient_tally.add_rejection(refusal)
                if self.counted:
                    coverage.add(result.covered, refused_features_of(outcome))
            return
        result.accepted += 1
        result.without_gradients += outcome.leaves_out_gradients
        if outcome.zeros is not None:
            result.zeros.add(outcome.zeros)
        self._count_gradients(outcome, agrees=not isinstance(judgement, Expected | Diverged))
        if self.counted:
            special = self.context.options.special_values
            coverage.add(result.covered, features_of(outcome, self.test.settings, special_values=special))
        _count_calls(outcome.recorder.calls, result)
        if isinstance(judgement, GradientMissing):
            result.forgotten[judgement.complaint] += 1

    def _count_gradients(self, outcome: Outcome, *, agrees: bool) -> None:
        """Count the gradients of an accepted trial, unless none need be compared."""
        counts, settings = self.result.gradient_tally, self.test.settings
        counts.asked = settings.asks_of_gradients
        if not (settings.skip_grad or outcome.leaves_out_gradients):
            counts.add_accepted(outcome.gradients, agrees=agrees)

    def add_graphs(self, agreeing: Sequence[tuple[int, Outcome]]) -> None:
        """Run trials that agree, each given with its index, again in the candidate's graph mode, and add mismatches."""
        candidate = self.context.pair.candidate
        report = graph_check.check([outcome.recorder for _, outcome in agreeing], self.test.settings)
        candidate.synchronize()
        self.result.operators[candidate.graph_mode] += 1  # it returned, see `autotest.campaigns.deadly_calls`
        self.result.compared += report.compared
        self.result.graphed += report.compared
        self.result.left_out += report.left_out
        for (index, outcome), mismatches in zip(agreeing, report.mismatches, strict=True):
            if mismatches:
                outcome.mismatches = mismatches
                self._judged(outcome, index)

    def _judged(self, outcome: Outcome, index: int) -> Judgement:
        """Judge a trial, add its mismatches to the result, and return the judgement."""
        result, trial = self.result, FailedTrial(self.test, outcome, self.context.pair)

        def is_known(identity: Identity) -> bool:
            # Judging costs many replays, so it is skipped for a failure that this task has already found.
            return any(other.identity == identity for other in result.suspects)

        def is_rounding() -> bool:
            if result.suspects and is_known(identity_of_trial(outcome, self.test.settings)):
                return False
            return trial.cleared() is not None

        judgement = trial.judged(self.context.ledger, is_rounding)
        match judgement:
            case Expected():
                result.expected.update(entry.key for entry in judgement.entries)
            case Cleared():
                result.cleared += 1
            case Diverged(identity):
                if not is_known(identity):
                    trial.must_be_of_calls()
                result.suspects.append(Suspect(index, identity))
        return judgement


def _count_calls(calls: Sequence[Call], result: Explored) -> None:
    for call in calls:
        if call.kind not in ("function", "method") or call.target in _NOT_COUNTED:
            continue
        result.operators[call.target] += 1
        for place, value in (*enumerate(call.args), *call.kwargs.items()):
            if type(value) in _PLAIN:
                result.arguments[f"{call.target} {place}={value!r:.40}"] += 1
