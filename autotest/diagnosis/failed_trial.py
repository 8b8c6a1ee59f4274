"""Decides whether the mismatches of a trial count, and diagnoses them: verdict, smaller program, script.

The steps of a diagnosis, with the folders and files of this package that take them:

1. Replay the program, find the first divergent call, and judge which side is wrong: `attribution`, which asks
   `rounding` and `oracles`. These ask NumPy by way of `counterparts`.
2. Find a smaller program that fails in the same way: `shrinking`.
3. Find what the failure needs, such as a layout or a size: `explaining`.
4. Write the script, and run it in a fresh interpreter: `scripted_finding`, `verification`.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from autotest.base.errors import NotReplayable
from autotest.base.settings import Settings
from autotest.comparison import Mismatch, Symptom
from autotest.comparison.rejection import NOT_REPEATABLE, Rejection
from autotest.diagnosis import gradient_finding, graph_finding, update_finding
from autotest.diagnosis.attribution import training
from autotest.diagnosis.attribution.guilty_mismatch import guilty_first
from autotest.diagnosis.attribution.influences import influences
from autotest.diagnosis.attribution.inputs import on_inputs
from autotest.diagnosis.attribution.layers import by_layer, by_layer_of_calls
from autotest.diagnosis.attribution.live_modules import not_reproduced, wrong_alone
from autotest.diagnosis.attribution.out_of_bounds_reads import slots_read_out_of_bounds
from autotest.diagnosis.attribution.referee import Opinion, examine, is_final, may_be_rounding, on_the_whole, settled
from autotest.diagnosis.attribution.reproducibility import unrepeatable
from autotest.diagnosis.attribution.rounding_before_exception import counting_mismatches
from autotest.diagnosis.attribution.unexpected_mismatches import find_unexpected
from autotest.diagnosis.attribution.unrolled import on_layers
from autotest.diagnosis.attribution.verdict import HARMLESS, Evidence, Verdict
from autotest.diagnosis.attribution.verdict import judge as judge_evidence
from autotest.diagnosis.scripted_finding import scripted
from autotest.diagnosis.shrinking.shrunk_trial import UnshrunkTrial, failure_of, with_opinion
from autotest.diagnosis.verification import interpreter_started_early
from autotest.frameworks import Pair, warnings_ignored
from autotest.program import Call, Program
from autotest.replaying.agreement import Agreement, agree
from autotest.results.finding import Finding
from autotest.results.ledger import Ledger
from autotest.results.verification import State, Verification
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test
from autotest.trials.judgement import Judgement, identity_of_trial, judge
from autotest.trials.one_sided_modes import check_one_sided_modes
from autotest.trials.outcome import Outcome
from autotest.trials.special_values import mark_special
from autotest.trials.trial import run_trial


@dataclasses.dataclass(slots=True)
class FailedTrial:
    """A trial of `test` with mismatches: decides whether they count, and diagnoses them.

    Its program is replayed and examined once for both purposes.
    """

    test: Test
    outcome: Outcome
    pair: Pair
    #: The cached agreement of the replay, and the value of `outcome.repaired_program` at that time.
    _agreement: Agreement | None = None
    _beyond: Program | None = None
    #: The cached opinion, with the mismatch that it is on.
    _opinion: tuple[Mismatch, Opinion] | None = None
    #: The finding with its verdict before it was shrunk.
    _unshrunk: Finding | None = None

    @property
    def _settings(self) -> Settings:
        """The settings of the test, without the differences that `unexpected_mismatches` found to be known."""
        return dataclasses.replace(self.test.settings, set_aside=self.outcome.ignored_differences)

    def _replayed(self) -> Agreement:
        known, beyond = self._agreement, self.outcome.repaired_program
        # A replay without mismatches is not cached: it may be chance.
        if known is None or self._beyond is not beyond or not known.mismatches:
            known = self._agreement = _agreement(self.outcome.program, self.pair, self._settings)
            self._beyond = beyond
        return known

    def _examined(self, agreement: Agreement) -> Opinion:
        first = agreement.mismatches[0]
        if self._opinion is None or self._opinion[0] is not first:
            self._opinion = first, examine(agreement, self.pair, self._settings)
        return self._opinion[1]

    def judged(self, ledger: Ledger, is_rounding: Callable[[], bool] | None = None) -> Judgement:
        """Return the judgement on the trial.

        Args:
            ledger: the known divergences.
            is_rounding: returns whether all mismatches are rounding; None means to find out by replays.
        """
        return judge(
            self.test,
            self.outcome,
            ledger,
            is_rounding or (lambda: self.cleared() is not None),
            lambda: find_unexpected(self.test, self.outcome, self.pair, ledger),
        )

    @np.errstate(all="ignore")
    @warnings_ignored()
    def cleared(self) -> Verdict | None:
        """Return the verdict that explains all mismatches as harmless, or None if some count.

        If some count, the others are removed from the outcome. If the reference agrees with itself at none of them,
        the outcome is marked as rejected. If the test gives its own tolerances, they are binding: nothing is cleared.
        """
        verdict = self._rounding()
        if verdict is None:
            self._leave_out_unrepeatable()
        return verdict

    def _leave_out_unrepeatable(self) -> None:
        """Remove mismatches in values that the reference does not reproduce, as they are no evidence.

        An example is a value that it reads from uninitialized memory.
        """
        outcome, reference = self.outcome, self.pair.reference
        if (
            outcome.update is not None
            or outcome.repaired_program is not None
            or not may_be_rounding(outcome.mismatches)
        ):
            return
        why = "gives a different result when it runs again: it reads uninitialised memory"
        try:
            live = Agreement(outcome.program, outcome.recorder, outcome.mismatches)
            replayed = self._agreement if self._beyond is None else None
            nondeterministic = unrepeatable(outcome.mismatches, live, replayed)
            left = [item for item in outcome.mismatches if item not in nondeterministic]
            if left and (changed := slots_read_out_of_bounds(outcome.program, reference)):
                left = [item for item in left if not changed & influences(outcome.program, item)]
                why = "reads memory next to its inputs"
        except Exception:  # noqa: BLE001 - a mismatch that cannot be judged counts
            return
        if not left:
            operator = identity_of_trial(outcome, self._settings).operator
            rejection = Rejection(operator, NOT_REPEATABLE, f"{reference.name} {why}")
            outcome.rejection = outcome.recorder.rejection = rejection
        outcome.mismatches = left

    def _rounding(self) -> Verdict | None:
        """Return the verdict if rounding explains all mismatches; else None, and the outcome keeps those that count."""
        outcome, settings = self.outcome, self._settings
        if any(is_final(item, settings) for item in outcome.mismatches):
            return None
        if outcome.update is not None:  # its check has already compared it with single-precision learning rates
            return None
        try:
            if not may_be_rounding(outcome.mismatches):
                outcome.mismatches = counting_mismatches(outcome.program, outcome.mismatches, self.pair, settings)
                return None
            agreement = self._replayed()
            gone = not_reproduced(outcome.mismatches, agreement)
            if not agreement.mismatches:
                if gone or outcome.repaired_program is not None:
                    return None
                # The mismatch was barely above the tolerance and is barely below it now: examine the trial's values.
                live = Agreement(outcome.program, outcome.recorder, list(outcome.mismatches))
                verdict, left = settled(live, examine(live, self.pair, settings), self.pair, settings)
                return None if left else verdict
            if gone:
                # Rounding in the replay does not explain a mismatch that only the trial showed.
                outcome.mismatches = gone
                return None
            if outcome.updates is not None:
                verdict = training.cleared(agreement, self.pair, settings, outcome.updates)
                if verdict is not None:
                    return verdict
            if not may_be_rounding(agreement.mismatches):
                return None
            verdict, left = settled(agreement, self._examined(agreement), self.pair, settings)
            if not left:
                return verdict
            counting = {(item.name, item.symptom) for item in left}
            outcome.mismatches = [
                item for item in outcome.mismatches if (item.name, item.symptom) in counting
            ] or outcome.mismatches
            return None
        except Exception:  # noqa: BLE001 - a mismatch that cannot be judged counts
            return None

    def must_be_of_calls(self) -> None:
        """Check that the first mismatch comes from recorded calls, not from a mode that the body set on one side alone.

        Raises:
            UsageError: no replay shows the mismatch, and the body set a mode on one side only.
        """
        first = self.outcome.mismatches[0]
        if first.symptom not in _OF_MODES or self.outcome.update is not None:
            return
        try:
            found = self._replayed()
        except Exception:  # noqa: BLE001 - a trial that cannot be replayed is reported as it is
            return
        if any((item.name, item.symptom) == (first.name, first.symptom) for item in found.mismatches):
            return
        check_one_sided_modes(self.test.body, self.outcome, self._settings, self.pair)

    @np.errstate(all="ignore")
    @warnings_ignored()
    def diagnosed(self, context: RunContext, index: int) -> Finding:
        """Return the finding of the trial with its full diagnosis.

        Args:
            context: the run that the trial belongs to.
            index: the index of the trial in that run.
        """
        finding = self.recorded(context, index)
        if finding.program is None:
            return finding
        with contextlib.ExitStack() as stack:
            if context.options.verify and context.options.shrink:
                stack.enter_context(interpreter_started_early(*context.pair.script_imports(finding.program)))
            return self._diagnosed(finding, context)

    def recorded(self, context: RunContext, index: int) -> Finding:
        """Return the finding without a diagnosis, for which nothing runs; the arguments are as in `diagnosed`."""
        outcome, pair = self.outcome, self.pair
        finding = Finding(
            test=self.test.id,
            base_seed=context.options.seed,
            index=index,
            seed=outcome.seed,
            mismatches=tuple(outcome.mismatches),
            sides=pair.sides,
            program=None,
            versions=pair.versions,
            settings=dataclasses.asdict(self._settings),
            choices=list(outcome.choices),
            shown=identity_of_trial(outcome, self._settings),
            file=self.test.file,
        )
        try:
            program = outcome.program
        except NotReplayable as error:
            why = f"the program cannot be replayed: {error}"
            return dataclasses.replace(finding, verified=Verification.lacking(why))
        return dataclasses.replace(finding, program=program)

    def _diagnosed(self, finding: Finding, context: RunContext) -> Finding:
        settings, update = self._settings, self.outcome.update
        if finding.first.symptom == "graph":
            # Both sides are the candidate: there is no referee, and no script that runs the reference.
            return graph_finding.diagnosed(finding, context, settings)
        if gradient_finding.is_numeric(finding.first):
            # The two sides agree: the gradient of one side disagrees with that side's own forward.
            return gradient_finding.diagnosed(finding, context, settings)
        if update is not None:
            # A program of the optimizer's steps alone shows more than the values that the trial compared.
            return scripted(update_finding.diagnosed(finding, update, context, settings), context)
        if finding.first.symptom in ("crash", "hang"):
            return self._of_other_process(finding, context)
        whole = finding
        try:
            finding = self._with_verdict(finding, context.options.shrink)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - an error of the diagnosis must not hide the failure itself
            finding = dataclasses.replace(finding, verdict=(f"no verdict: {type(error).__name__}: {error}",))
        told = scripted(finding, context)
        if told.verified.state in (State.MISSED, State.DIED) and finding.program is not whole.program:
            # The failure may need state that a side keeps between calls, which is lost if calls are removed.
            shrinking = ("Shrunk:     no: smaller programs do not show the difference in a fresh interpreter",)
            recorded = dataclasses.replace(
                finding, program=whole.program, mismatches=whole.mismatches, divergent=None, happens=()
            )
            return self._unshrunk_script(dataclasses.replace(recorded, shrinking=shrinking), context) or told
        return told

    def _of_other_process(self, finding: Finding, context: RunContext) -> Finding:
        """Return the finding that the process of the candidate, which is not this one, died, with its script.

        It would die again in replays. A script learns of the death as this process does: by an exception.
        """
        verdict = judge_evidence(Evidence(finding.first.symptom, self.pair.sides))
        raised = dataclasses.replace(finding.first, symptom="exception")
        judged = dataclasses.replace(
            finding, mismatches=(raised, *finding.mismatches[1:]), verdict=(verdict.line,), blame=verdict.blame
        )
        return dataclasses.replace(scripted(judged, context), mismatches=finding.mismatches)

    def _unshrunk_script(self, recorded: Finding, context: RunContext) -> Finding | None:
        """Return the finding with a script of the whole program, or None if that does not show the failure either.

        The program that was judged names a wrong call. It is used if it shows the failure, too.
        """
        judged = self._unshrunk
        if judged is not None and judged.divergent is not None:
            judged = dataclasses.replace(judged, shrinking=recorded.shrinking)
            recorded = judged if judged.program is recorded.program else recorded
        else:
            judged = recorded
        again = scripted(recorded, context)
        if not again.verified.holds:
            return None
        better = again if judged is recorded else scripted(judged, context)
        return better if better.verified.holds else again

    def _with_verdict(self, finding: Finding, seconds: float) -> Finding:
        """Return `finding` with its verdict, and with a smaller program unless `seconds`, the time limit, is 0."""
        settings, pair = self._settings, self.pair
        agreement = self._replayed()
        if not agreement.mismatches or not_reproduced(finding.mismatches[:1], agreement):
            verdict = "no verdict: the recorded program does not show the difference when it is replayed"
            network = wrong_alone(self.outcome.recorder, settings)
            if network is None:
                network = by_layer_of_calls(*self._with_intermediate_gradients())
            return dataclasses.replace(finding, verdict=(verdict,), network=network)
        counting = [(item.name, item.symptom) for item in finding.mismatches]
        # Mismatches that rounding explains were removed from the finding; here they come last.
        agreement.mismatches.sort(key=lambda item: (item.name, item.symptom) not in counting)
        whole = on_inputs(agreement, pair, settings)
        agreement = on_layers(whole, pair, settings)
        agreement, opinion = guilty_first(agreement, self._examined(agreement), pair, settings)
        if opinion.verdict.blame in HARMLESS and agreement.program is not whole.program:
            # What no layer explains alone is the fault of the Sequential.
            agreement, opinion = guilty_first(whole, self._examined(whole), pair, settings)
        opinion = on_the_whole(agreement, opinion, pair, settings)
        finding = dataclasses.replace(finding, network=by_layer(agreement, opinion.located, pair, settings))
        self._unshrunk = with_opinion(finding, agreement, opinion, pair)
        if not seconds:
            return self._unshrunk
        failure = failure_of(agreement, opinion, pair, settings)
        test = dataclasses.replace(self.test, settings=settings)
        return UnshrunkTrial(finding, agreement, opinion, failure, test, self.outcome, pair).shrunk(seconds)

    def _with_intermediate_gradients(self) -> tuple[Sequence[Call], Sequence[Mismatch]]:
        """Return the calls and mismatches of the trial; if only gradients differ, of a repetition that keeps all."""
        outcome = self.outcome
        shown = outcome.recorder.calls, outcome.mismatches
        if any(item.symptom != "gradient" for item in outcome.mismatches):
            return shown
        keeping = dataclasses.replace(self._settings, check_grad="intermediate")
        again = run_trial(self.test.body, outcome.seed, keeping, self.pair, outcome.choices)
        return (again.recorder.calls, again.mismatches) if again.mismatches else shown


#: Symptoms of a mode that the body set on one side alone. Exceptions are not among them, as a call that raised may
#: crash the process when it runs again.
_OF_MODES = frozenset[Symptom](("value", "gradient", "dtype", "structure", "requires_grad"))


def _agreement(program: Program, pair: Pair, settings: Settings) -> Agreement:
    """Run `program` on both sides and compare them as a trial is compared.

    If special numbers do not count, a difference that ordinary operands show, too, still does.
    """
    if settings.special_values:
        return agree(program, pair, settings)
    found = agree(program, pair, dataclasses.replace(settings, special_values=True))
    found.mismatches = mark_special(found.record, found.mismatches, settings)
    return found
