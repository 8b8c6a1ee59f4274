"""The loop of trials of one test against several candidates: the reference runs once, and each candidate replays."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import unittest
from collections.abc import Callable

from autotest.base.errors import AutotestError, TrialsFailed
from autotest.report import candidates as report
from autotest.report import text
from autotest.results.divergence import Divergence
from autotest.running import runner
from autotest.running.judged_trials import JudgedTrials, PlannedTrial
from autotest.running.run_hooks import run_hook
from autotest.running.tally import Tally
from autotest.storage.store import Store
from autotest.trials.another_candidate import outcome_on
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test
from autotest.trials.outcome import Outcome
from autotest.trials.trial import run_next_without_comparison
from generators import Schedule

# pytest and unittest leave this module out of the traceback of a failed test.
__tracebackhide__ = True
__unittest = True


@dataclasses.dataclass(slots=True)
class _Candidate:
    """One candidate, and the state of its trials."""

    judged: JudgedTrials
    #: The exception that ended its trials, or None.
    ended: Exception | None = None
    done: bool = False

    @property
    def name(self) -> str:
        return self.judged.context.pair.candidate.name

    def take(self, planned: PlannedTrial, outcome: Outcome) -> None:
        self.attempt(lambda: self.judged.add(planned, outcome))
        self.done = self.done or self.judged.enough

    def finish(self) -> None:
        if self.ended is None:
            self.attempt(self.judged.finish)

    def attempt(self, step: Callable[[], None]) -> None:
        """Call `step`. An exception that it raises ends the candidate's trials."""
        try:
            step()
        except (AutotestError, unittest.SkipTest) as error:
            self.ended, self.done = error, True


def run_against_several(test: Test, context: RunContext) -> None:
    """Run the trials of `test` against every candidate of `context`. One that fails does not stop the others.

    Raises:
        AutotestError: when all candidates are done, as `autotest.running.runner.run_test`. It is the first divergence,
            or else the first other failure, with a line for each candidate.
        unittest.SkipTest: no candidate has what the test needs.
    """
    with contextlib.ExitStack() as stack:
        for each in context.each:
            stack.enter_context(each.pair.around_trials(runner.patience(test, each.options)))
        candidates: list[_Candidate] = []
        lethal: set[int] = set()
        for each in context.each:
            judged, avoided = runner.prepared(test, each)
            candidates.append(_Candidate(judged))
            lethal |= avoided
        with runner.leaving_breadcrumb(context.options) as crumb:
            schedule = runner.schedule_of(candidates[0].judged)
            trials = runner.plan(test, context.options, Store(context.options.directory), schedule)
            pairs = [each.pair for each in context.each]
            for planned in runner.not_lethal(crumb, test, trials, lethal, pairs):
                _one_trial(test, planned, candidates, schedule)
                for candidate in candidates:
                    candidate.judged.free_memory()
                if all(candidate.done for candidate in candidates):
                    break
            for candidate in candidates:
                candidate.finish()
    _raise_joint_failure(candidates)


def against_each(test: Test, context: RunContext, run: Callable[[Test, RunContext], None]) -> None:
    """Call `run` for the trials of `test` against each candidate in turn, and raise their failures together."""
    candidates: list[_Candidate] = []
    tallies: list[Tally] = []
    with run_hook(lambda _, __, tally: tallies.append(tally)):
        for each in context.each:
            candidate = _Candidate(JudgedTrials(test, each, Tally(), Store(each.options.directory)))
            candidate.attempt(functools.partial(run, test, each))
            candidate.judged.tally = tallies[0] if tallies else candidate.judged.tally  # others are of nested tests
            tallies.clear()
            candidates.append(candidate)
    _raise_joint_failure(candidates)


def _one_trial(test: Test, planned: PlannedTrial, candidates: list[_Candidate], schedule: Schedule) -> None:
    """Run one trial with the first candidate that is not done, and replay it on the others."""
    first, *others = [candidate for candidate in candidates if not candidate.done]
    context = first.judged.context
    outcome = runner.run_planned(test, planned, context, lambda: _judge_waiting(candidates))
    if not planned.additional:
        schedule.record(planned.trial, outcome.features, refused=outcome.refused_body)
    replayed = [(candidate, outcome_on(outcome, candidate.judged.context.pair)) for candidate in others]
    first.take(planned, outcome)
    for candidate, another in replayed:
        if another is not None:
            candidate.take(planned, another)
        else:
            candidate.attempt(functools.partial(_run_again, test, planned, candidate))


def _run_again(test: Test, planned: PlannedTrial, candidate: _Candidate) -> None:
    """Run the body again, with `candidate` alone."""
    pair = candidate.judged.context.pair
    candidate.take(planned, run_next_without_comparison(test, planned.seed, pair, planned.all_require_grad))


def _judge_waiting(candidates: list[_Candidate]) -> None:
    """Judge the trials of every candidate that wait, and raise the joint failure if a candidate has failed by now."""
    for candidate in candidates:
        if candidate.ended is None:
            candidate.attempt(candidate.judged.judge_waiting)
    if any(isinstance(candidate.ended, AutotestError) for candidate in candidates):
        _raise_joint_failure(candidates)


def _result(candidate: _Candidate) -> report.CandidateResult:
    tally, ended = candidate.judged.tally, candidate.ended
    place = ended.place if isinstance(ended, Divergence) else ""
    against = "" if ended is None else _against(ended)
    return report.CandidateResult(
        candidate.name, tally.accepted, tally.absent.total(), tally.expected.total(), against, place
    )


def _against(ended: Exception) -> str:
    """Return the short text of a candidate's failure."""
    if isinstance(ended, Divergence) and ended.finding is not None:
        return text.headline(ended.finding)
    return ended.said if isinstance(ended, TrialsFailed) else str(ended)


def _raise_joint_failure(candidates: list[_Candidate]) -> None:
    """Raise the joint failure of all candidates, if there is one."""
    lines = report.lines([_result(each) for each in candidates])
    found = [each.ended for each in candidates if isinstance(each.ended, Divergence)]
    if found:
        first, *others = found
        whole = report.report(lines, _against(first), [str(one) for one in found])
        joint = Divergence(whole, first.finding, first.place)
        joint.others = tuple(others)
        raise joint from None
    failed = [each for each in candidates if isinstance(each.ended, AutotestError)]
    if failed:
        error = failed[0].ended
        assert error is not None
        if isinstance(error, TrialsFailed):
            raise type(error)(error.test, "\n".join([error.said, "", *lines])) from error
        raise type(error)("\n".join([str(error), "", *lines])) from error
    if all(isinstance(each.ended, unittest.SkipTest) for each in candidates):
        raise unittest.SkipTest("; ".join(f"{each.name}: {each.ended}" for each in candidates))
