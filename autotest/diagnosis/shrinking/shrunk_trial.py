"""Shrinks a failed trial: the choices of its test body, then its program."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Sequence

from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import Opinion, examine, may_be_rounding
from autotest.diagnosis.attribution.verdict import Blame, Verdict
from autotest.diagnosis.explaining.decisive_features import OutOfTime, decisive_features
from autotest.diagnosis.explaining.explanation import explain, shrunk_line
from autotest.diagnosis.explaining.outcomes import ProgramOutcome
from autotest.diagnosis.shrinking.choice_reduction import shrink_choices
from autotest.diagnosis.shrinking.defaults import differing_defaults
from autotest.diagnosis.shrinking.failure_signature import FailureSignature, differs_widely, draws, message_of, raises
from autotest.diagnosis.shrinking.probing import scout
from autotest.diagnosis.shrinking.shrinker import ProgramJudge, Shrinker
from autotest.frameworks import Pair
from autotest.program import Program, operator_of
from autotest.program.semantics import is_class
from autotest.replaying.agreement import Agreement, agree
from autotest.replaying.operator_of_mismatch import MismatchNames
from autotest.report.activity import doing
from autotest.results.finding import Finding
from autotest.trials.decorated import Test
from autotest.trials.outcome import Outcome
from autotest.trials.special_values import with_extreme_ordinary_numbers, with_ordinary_numbers

#: Number of calls above which a test body is not run again to shrink its choices, if one call alone shows the failure.
_LONG = 60
#: How often the smallest program must fail before it is explained, and how many programs must pass a second time after.
_RUNS = 6
#: The largest number of candidate programs when each of them needs a verdict, too.
_JUDGED = 300
#: The blames that say by an oracle which side is wrong.
_DECIDED: tuple[Blame, ...] = ("candidate", "reference", "both")


def _acceptable_blames(verdict: Verdict) -> tuple[Blame, ...]:
    """Return the blames with which a smaller program may replace the one judged `verdict`."""
    return ("inconclusive", "semantic difference", *_DECIDED) if verdict.weak else (verdict.blame,)


@dataclasses.dataclass(frozen=True, slots=True)
class UnshrunkTrial:
    """A failed trial before shrinking, with its diagnosis."""

    finding: Finding
    agreement: Agreement
    opinion: Opinion
    failure: FailureSignature
    test: Test
    outcome: Outcome
    pair: Pair

    def shrunk(self, seconds: float) -> Finding:
        """Return the finding about the smallest program that fails in the same way and has a fitting verdict.

        Args:
            seconds: the time limit for shrinking.
        """
        with doing("shrinking"), scout(self.pair, self.agreement.program) as survives:
            return self._with_ordinary_numbers()._shrunk(seconds, survives)

    def _with_ordinary_numbers(self) -> UnshrunkTrial:
        """Return this trial with ordinary numbers in place of special ones that its failure does not need.

        A failure that ordinary numbers show must not turn into one that only NaN or an infinity shows. In a program
        that contains special numbers, the two cannot be distinguished.
        """
        if self.finding.first.special or not self.agreement.mismatches[0].special:
            return self
        failure = dataclasses.replace(self.failure, special=False)
        found = self._ordinary(self.agreement, failure)
        if not failure.shown_by(found):
            return self
        opinion = examine(found, self.pair, self.test.settings)
        # The verdict on the whole trial may be one on its special numbers, about which the finding says nothing.
        if not (self._is_judged_alike(opinion) or opinion.verdict.blame in _DECIDED):
            return self
        return dataclasses.replace(self, agreement=found, opinion=opinion, failure=failure)

    def _ordinary(self, agreement: Agreement, failure: FailureSignature) -> Agreement:
        """Return `agreement`, or if it does not show `failure`, the agreement on its program with ordinary numbers."""
        if failure.shown_by(agreement):
            return agreement
        for change in (with_ordinary_numbers, with_extreme_ordinary_numbers):
            found = self._judged(change(agreement.program), self.pair, self.test.settings)
            if failure.shown_by(found):
                return found
        return agreement

    def _shrunk(self, seconds: float, survives: Callable[[Program], bool], earlier: int | None = None) -> Finding:
        """Return the finding about the smallest program.

        Args:
            seconds: the time limit.
            survives: whether a program may be run in this process.
            earlier: the number of executions in which the choices and the program were shrunk before; None if they
                were not.
        """
        assert self.finding.program is not None
        pair, settings, alone = self.pair, self.test.settings, self.opinion.located.alone
        begin = time.monotonic()
        start, tried = self._plainer(seconds / 2) if earlier is None else (self.agreement, earlier)
        left = max(1.0, seconds - (time.monotonic() - begin))
        judging = ProgramJudge(pair, settings, self._judged, survives)
        shrinker = Shrinker(start, self.failure, judging, left)
        shrunk = shrinker.shrink([alone.program] if alone is not None else [])
        smallest, final = self._judged_alike(shrunk.history)
        executions = shrunk.executions + tried
        left = seconds - (time.monotonic() - begin)
        if smallest is not shrunk.agreement and left > 0:
            # The verdict changed at some step, so continue from the last good program and judge each step.
            judging = judging._replace(holds=lambda found: self._is_judged_alike(examine(found, pair, settings)))
            shrinker = Shrinker(smallest, self.failure, judging, left, _JUDGED)
            shrunk = shrinker.shrink()
            executions += shrunk.executions
            if shrunk.agreement is not smallest:
                smallest, final = shrunk.agreement, examine(shrunk.agreement, pair, settings)
        of_forward = self._of_forward(smallest, final)
        if of_forward is not None:
            return of_forward._shrunk(max(1.0, seconds - (time.monotonic() - begin)), survives, executions)
        lines = [shrunk_line(self.finding.program, smallest.program, executions, shrunk.complete)]
        happens: tuple[str, ...] = ()
        explainable = final.verdict.blame != "nondeterministic" and not smallest.program.has_properties
        if explainable and time.monotonic() - begin < 2 * seconds:
            varying = self._varying(smallest)
            if varying is None:
                happens, explanation, varying = self._explained(smallest, shrinker)
                lines += explanation
            final = final if varying is None else dataclasses.replace(final, verdict=varying)
        smaller_finding = with_opinion(self.finding, smallest, final, pair)
        return dataclasses.replace(smaller_finding, shrinking=tuple(lines), happens=happens)

    def _of_forward(self, smallest: Agreement, final: Opinion) -> UnshrunkTrial | None:
        """Return the failure of the forward that explains a wrong gradient in the smallest program; None if none does.

        The gradient of a wrong result is another one, too. A trial shows only that if both results are NaN there, for
        example. No oracle accuses such a gradient, as it is that of the candidate's own forward.
        """
        first, slot = smallest.mismatches[0], final.located.beginning
        if first.symptom != "gradient" or first.stage != "backward" or not final.verdict.weak or slot is None:
            return None
        results = [item for item in smallest.mismatches if (item.symptom, item.slot) == ("value", slot)]
        if not results or results[0].special:
            return None
        agreement = smallest.beginning_with(results[0])
        opinion = examine(agreement, self.pair, self.test.settings)
        if opinion.located.slot != slot or opinion.verdict.blame != "candidate":
            return None
        failure = failure_of(agreement, opinion, self.pair, self.test.settings)
        return dataclasses.replace(self, agreement=agreement, opinion=opinion, failure=failure)

    def _explained(
        self, smallest: Agreement, shrinker: Shrinker
    ) -> tuple[tuple[str, ...], Sequence[str], Verdict | None]:
        """Return the features that the failure needs, the lines that explain it, and the verdict if its runs vary.

        Runs that vary seem to depend on any feature, so that nothing is explained then.
        """
        passing: list[Program] = []

        def run(program: Program) -> ProgramOutcome:
            ending = shrinker.result_of(program)
            passing.extend([program] if ending == "passes" else [])
            return ending

        assert self.finding.program is not None
        alone = self.opinion.located.alone
        whole = [self.finding.program, *([] if alone is None else [alone.program])]
        happens = decisive_features(
            smallest.program, shrinker.values_of, shrinker.names_of, shrinker.words_of, run, whole
        )
        neighbours = shrinker.passing_neighbours()
        lines = explain(smallest, neighbours, self.test.settings, run)
        with contextlib.suppress(OutOfTime):
            if any(shrinker.result_of(program) == "fails" for program in [*passing, *neighbours][:_RUNS]):
                return (), (), self._varies(1, 2)
        return happens, lines, None

    def _varying(self, failed: Agreement) -> Verdict | None:
        """Return the verdict if the program of `failed` does not fail alike in each of several runs."""
        if not self.failure.shown_by(failed):
            return None  # what is looked for is not what the program shows first, whatever the number of runs
        again = [self._judged(failed.program, self.pair, self.test.settings) for _ in range(_RUNS - 1)]
        fails = 1 + sum(map(self.failure.shown_by, again))
        return None if fails == _RUNS else self._varies(fails, _RUNS)

    def _varies(self, fails: int, runs: int) -> Verdict:
        reference, candidate = self.pair.sides
        line = f"nondeterministic: {candidate} differs from {reference} in {fails} of {runs} runs of the same program"
        return Verdict("nondeterministic", line)

    def _judged_alike(self, history: Sequence[Agreement]) -> tuple[Agreement, Opinion]:
        """Return the smallest agreement in `history` that still is the same failure, and the opinion on it.

        It is the same failure if it has the verdict of the whole trial, or a decided verdict if that one is weak.
        """
        for smallest in reversed(history):
            opinion = self.opinion if smallest is self.agreement else examine(smallest, self.pair, self.test.settings)
            if self._is_judged_alike(opinion):
                return smallest, opinion
        return self.agreement, self.opinion

    def _is_judged_alike(self, opinion: Opinion) -> bool:
        return opinion.verdict.blame in _acceptable_blames(self.opinion.verdict)

    def _judged(self, program: Program, pair: Pair, settings: Settings) -> Agreement:
        """Return the agreement on `program`, with the whole trial's kind of mismatch first, as it may have others."""
        found, failure = agree(program, pair, settings), self.failure
        found.mismatches.sort(key=lambda item: (item.symptom, item.stage) != (failure.symptom, failure.stage))
        return found

    def _plainer(self, seconds: float) -> tuple[Agreement, int]:
        """Return the trial on plainer choices, and the number of runs.

        The choices are shrunk unless one plain call shows the failure: only the test body knows which of the program's
        values belong together.
        """
        alone = self.opinion.located.alone
        focus = self.agreement.program if alone is None else alone.program
        if alone is not None and not any(is_class(call) for call in focus.calls):
            return self.agreement, 0
        if alone is not None and len(self.agreement.program.calls) > _LONG:
            return self.agreement, 0  # repeated runs of the body would take longer than to shrink that one call
        plain, tried = shrink_choices(self.test, self.outcome, self.pair, self.failure, seconds)
        if plain is self.outcome:
            return self.agreement, tried
        found = self._ordinary(agree(plain.program, self.pair, self.test.settings), self.failure)
        return (found, tried) if self.failure.shown_by(found) else (self.agreement, tried)


def failure_of(agreement: Agreement, opinion: Opinion, pair: Pair, settings: Settings) -> FailureSignature:
    """Return the signature of the first mismatch of `agreement`, which every smaller program must show."""
    first = agreement.mismatches[0]
    slot, change = opinion.located.slot, opinion.located.change
    if change is not None:
        operator = change.operator
    elif slot is not None:
        operator = operator_of(agreement.program.calls, slot)
    else:
        operator = MismatchNames(agreement.program, pair, settings).operator(first)
    wide = may_be_rounding([first]) and differs_widely(agreement, pair, settings)
    return FailureSignature(
        first.symptom,
        first.stage,
        first.side,
        operator,
        message_of(first),
        wide,
        first.special,
        raises(agreement),
        draws(agreement),
    )


def with_opinion(finding: Finding, agreement: Agreement, opinion: Opinion, pair: Pair) -> Finding:
    """Return `finding` about the program of `agreement`, with the verdict of `opinion`."""
    verdict, (first, *others) = opinion.verdict, agreement.mismatches
    if may_be_rounding([first]):  # whether only special numbers show it was determined on the whole trial
        first = dataclasses.replace(first, special=finding.first.special)
    return dataclasses.replace(
        finding,
        program=agreement.program,
        mismatches=(first, *others),
        verdict=(verdict.line, *verdict.numbers, *differing_defaults(agreement.program, pair)),
        blame=verdict.blame,
        divergent=opinion.located.beginning,
    )
