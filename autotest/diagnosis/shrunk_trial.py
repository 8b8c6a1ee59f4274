"""Makes what a failed trial did smaller: the choices of its test body, then its program."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence

from autotest.base.settings import Settings
from autotest.diagnosis.agreement import Agreement, agree
from autotest.diagnosis.choice_reduction import shrink_choices
from autotest.diagnosis.decisive_features import decisive_features
from autotest.diagnosis.defaults import differing_defaults
from autotest.diagnosis.explanation import explain, shrunk_line
from autotest.diagnosis.probing import scout
from autotest.diagnosis.referee import Opinion, examine, may_be_rounding
from autotest.diagnosis.shrinking import FailureSignature, Judging, Shrinker, differs_widely, message_of
from autotest.diagnosis.verdict import Blame, Verdict
from autotest.frameworks import Pair
from autotest.program import Program, operator_of
from autotest.program.semantics import is_class
from autotest.report.activity import doing
from autotest.results.finding import Finding
from autotest.results.identity import operator_behind
from autotest.trials.special_values import with_ordinary_numbers
from autotest.trials.trial import Outcome, Test

#: Programs with more calls are not run again from their test body.
_LONG = 60
#: Programs that are run at most where each of them has to be judged, too.
_JUDGED = 300


def _as_good(verdict: Verdict) -> tuple[Blame, ...]:
    """The verdicts on a smaller program with which it may stand for one that was judged `verdict`."""
    decided: tuple[Blame, ...] = ("candidate", "reference", "both")
    return ("inconclusive", "semantic difference", *decided) if verdict.weak else (verdict.blame,)


@dataclasses.dataclass(frozen=True, slots=True)
class WholeTrial:
    """A failed trial before anything of it was made smaller, and what is known of it."""

    finding: Finding
    agreement: Agreement
    opinion: Opinion
    failure: FailureSignature
    test: Test
    outcome: Outcome
    pair: Pair

    def shrunk(self, seconds: float) -> Finding:
        """The finding about the smallest program that fails alike and has the same verdict."""
        with doing("shrinking"), scout(self.pair, self.agreement.program) as survives:
            return self._begun_ordinary()._shrunk(seconds, survives)

    def _begun_ordinary(self) -> WholeTrial:
        """This trial with ordinary numbers in place of special ones that it happens to hold too.

        What ordinary numbers show must not slide to what only NaN or an infinity shows, and while a program holds any
        of these, what a smaller one fails in cannot be told apart.
        """
        if self.finding.first.special or not self.agreement.mismatches[0].special:
            return self
        failure = dataclasses.replace(self.failure, special=False)
        found = self._ordinary(self.agreement, failure)
        if not failure.shown_by(found):
            return self
        opinion = examine(found, self.pair, self.test.settings)
        if not self._is_judged_alike(opinion):
            return self
        return dataclasses.replace(self, agreement=found, opinion=opinion, failure=failure)

    def _ordinary(self, agreement: Agreement, failure: FailureSignature) -> Agreement:
        """`agreement`, or, where only that is `failure`, what the sides make of its program with ordinary numbers."""
        program = agreement.program if failure.shown_by(agreement) else with_ordinary_numbers(agreement.program)
        return agreement if program is agreement.program else self._judged(program, self.pair, self.test.settings)

    def _shrunk(self, seconds: float, survives: Callable[[Program], bool]) -> Finding:
        assert self.finding.program is not None
        pair, settings, alone = self.pair, self.test.settings, self.opinion.located.alone
        begin = time.monotonic()
        start, tried = self._plainer(seconds / 2)
        left = max(1.0, seconds - (time.monotonic() - begin))
        judging = Judging(pair, settings, self._judged, survives)
        shrinker = Shrinker(start, self.failure, judging, left)
        shrunk = shrinker.shrink([alone.program] if alone is not None else [])
        smallest, final = self._judged_alike(shrunk.history)
        executions = shrunk.executions + tried
        left = seconds - (time.monotonic() - begin)
        if smallest is not shrunk.agreement and left > 0:
            # The way to the smallest one led through others too early.
            judging = judging._replace(holds=lambda found: self._is_judged_alike(examine(found, pair, settings)))
            shrinker = Shrinker(smallest, self.failure, judging, left, _JUDGED)
            shrunk = shrinker.shrink()
            executions += shrunk.executions
            if shrunk.agreement is not smallest:
                smallest, final = shrunk.agreement, examine(shrunk.agreement, pair, settings)
        lines = [shrunk_line(self.finding.program, smallest.program, executions, shrunk.complete)]
        happens: tuple[str, ...] = ()
        if time.monotonic() - begin < 2 * seconds:
            happens = decisive_features(smallest.program, shrinker.values_of, shrinker.result_of)
            lines += explain(smallest, shrinker.around(), settings, shrinker.fails)
        told = with_opinion(self.finding, smallest, final, pair)
        return dataclasses.replace(told, shrinking=tuple(lines), happens=happens)

    def _judged_alike(self, history: Sequence[Agreement]) -> tuple[Agreement, Opinion]:
        """The smallest one of `history`, and what is to be said of it, that does not slide to another failure: one that
        has the first one's verdict, or that says whose it is where the first one could not."""
        for smallest in reversed(history):
            opinion = self.opinion if smallest is self.agreement else examine(smallest, self.pair, self.test.settings)
            if self._is_judged_alike(opinion):
                return smallest, opinion
        return self.agreement, self.opinion

    def _is_judged_alike(self, opinion: Opinion) -> bool:
        return opinion.verdict.blame in _as_good(self.opinion.verdict)

    def _judged(self, program: Program, pair: Pair, settings: Settings) -> Agreement:
        """What `program` fails in: what the whole one does first, since it may fail in more."""
        found, failure = agree(program, pair, settings), self.failure
        found.mismatches.sort(key=lambda item: (item.symptom, item.stage) != (failure.symptom, failure.stage))
        return found

    def _plainer(self, seconds: float) -> tuple[Agreement, int]:
        """The same trial on plainer choices, where the program alone does not know what goes together; and the runs."""
        alone = self.opinion.located.alone
        focus = self.agreement.program if alone is None else alone.program
        if alone is not None and not any(is_class(call) for call in focus.calls):
            return self.agreement, 0
        if alone is not None and len(self.agreement.program.calls) > _LONG:
            return self.agreement, 0  # to run the body again and again takes longer than to make that one call smaller
        plain, tried = shrink_choices(self.test, self.outcome, self.pair, self.failure, seconds)
        if plain is self.outcome:
            return self.agreement, tried
        found = self._ordinary(agree(plain.program, self.pair, self.test.settings), self.failure)
        return (found, tried) if self.failure.shown_by(found) else (self.agreement, tried)


def failure_of(agreement: Agreement, opinion: Opinion, pair: Pair, settings: Settings) -> FailureSignature:
    """In what way the first mismatch of `agreement` fails, for everything smaller to fail alike."""
    first = agreement.mismatches[0]
    calls, slot = agreement.program.calls, opinion.located.slot
    operator = operator_behind(calls, first) if slot is None else operator_of(calls, slot)
    wide = may_be_rounding([first]) and differs_widely(agreement, pair, settings)
    return FailureSignature(first.symptom, first.stage, first.side, operator, message_of(first), wide, first.special)


def with_opinion(finding: Finding, agreement: Agreement, opinion: Opinion, pair: Pair) -> Finding:
    """`finding` about `agreement`'s program, with the verdict on it."""
    verdict, (first, *others) = opinion.verdict, agreement.mismatches
    if may_be_rounding([first]):  # what only special numbers show, its trial knows best
        first = dataclasses.replace(first, special=finding.first.special)
    return dataclasses.replace(
        finding,
        program=agreement.program,
        mismatches=(first, *others),
        verdict=(verdict.line, *verdict.numbers, *differing_defaults(agreement.program, pair)),
        blame=verdict.blame,
        divergent=opinion.located.hint if opinion.located.slot is None else opinion.located.slot,
    )


__all__ = ["WholeTrial", "failure_of", "with_opinion"]
