"""The loop of trials of one test."""

from __future__ import annotations

import contextlib
import gc
import os
import unittest
from collections.abc import Callable, Iterable, Iterator, Set

from autotest.base.errors import AutotestError, annotate
from autotest.base.options import Options
from autotest.base.settings import ATTEMPTS_PER_TRIAL
from autotest.frameworks import Pair
from autotest.processes import breadcrumb
from autotest.processes.exit_guard import aborting_exit
from autotest.recording.call_observer import notifying
from autotest.report import text
from autotest.results.divergence import Divergence
from autotest.results.identity import DEADLY
from autotest.running import run_hooks
from autotest.running.deaths.earlier import earlier_deaths
from autotest.running.judged_trials import JudgedTrials, PlannedTrial
from autotest.running.tally import Tally
from autotest.sources.test_names import trial_seed
from autotest.storage.store import Store
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test
from autotest.trials.modes import check_equal_default_dtypes
from autotest.trials.outcome import Outcome
from autotest.trials.trial import run_next_without_comparison
from generators import Schedule

# pytest and unittest leave this module out of the traceback of a failed test.
__tracebackhide__ = True
__unittest = True

#: Threshold of the garbage collector's first generation while trials run. A batch of trials allocates a few thousand
#: containers and frees them all by reference counting. With Python's default the collector would scan each batch
#: several times for nothing.
BEFORE_COLLECTION = 10_000


def run_test(test: Test, context: RunContext) -> Tally:
    """Run the trials of `test` against one candidate.

    Raises:
        Divergence: the frameworks disagreed in a way that the ledger does not expect.
        NothingCompared: a trial ended without any comparison.
        GradientNotCompared: a trial could have compared a gradient, and compared none.
        TooFewAccepted: the reference refused nearly everything.
        StaleLedgerEntry: the ledger expects a divergence that did not happen.
    """
    with context.pair.around_trials(patience(test, context.options)):
        judged, lethal = prepared(test, context)
        with leaving_breadcrumb(context.options) as crumb:
            _run(judged, lethal, crumb)
    return judged.tally


def patience(test: Test, options: Options) -> float | None:
    """Return the seconds that a candidate in its own process has to answer, or None if test and run set no deadline."""
    return options.deadline if test.settings.deadline is not None or "deadline" in options.explicit else None


def prepared(test: Test, context: RunContext) -> tuple[JudgedTrials, set[int]]:
    """Return the collector for the trials of `test`, and the seeds of trials that are known to crash the process."""
    check_equal_default_dtypes(context.pair)  # once is enough: each trial restores the modes of both sides
    tally = Tally()
    run_hooks.begins(test, context, tally)
    store = Store(context.options.directory)
    lethal = _report_earlier_deaths(test, context, tally, store)
    return JudgedTrials(test, context, tally, store), lethal


@contextlib.contextmanager
def leaving_breadcrumb(options: Options) -> Iterator[breadcrumb.Breadcrumb | None]:
    """Yield the breadcrumb file that tells where the process was if it dies inside the block, or None without one."""
    crumb = breadcrumb.own(options.directory, os.getpid())
    before = _rarer_gc()
    try:
        with aborting_exit(), contextlib.nullcontext() if crumb is None else notifying(crumb):
            yield crumb
    finally:
        _restore_gc_threshold(before)
        if crumb is not None:
            crumb.idle()


def _rarer_gc() -> tuple[int, int, int]:
    """Make the garbage collector run less often, unless it is off or rarer already. Returns the old thresholds."""
    usual = gc.get_threshold()
    if 0 < usual[0] < BEFORE_COLLECTION:
        gc.set_threshold(BEFORE_COLLECTION, *usual[1:])
    return usual


def _restore_gc_threshold(usual: tuple[int, int, int]) -> None:
    if gc.get_threshold()[0] == BEFORE_COLLECTION:  # otherwise the test set its own threshold
        gc.set_threshold(*usual)


def _report_earlier_deaths(test: Test, context: RunContext, tally: Tally, store: Store) -> set[int]:
    """Report the deaths of earlier processes in this test, and return the seeds of their trials, to avoid them.

    A trial that dies in this process cannot report its death.

    Raises:
        Divergence: the ledger does not expect one of the deaths.
    """
    lethal: set[int] = set()
    for finding, place in earlier_deaths(test, context, store):
        entry = context.ledger.expects(test.id, finding.first, finding.identity.operator)
        if entry is None:
            raise Divergence(text.divergence(finding, place, ""), finding, place)
        tally.expected[entry.key] += 1
        lethal.add(finding.seed)
    return lethal


def _run(judged: JudgedTrials, lethal: Set[int], crumb: breadcrumb.Breadcrumb | None) -> None:
    test, context = judged.test, judged.context
    schedule = schedule_of(judged)
    trials = plan(test, context.options, judged.store, schedule)
    for planned in not_lethal(crumb, test, trials, lethal, [context.pair]):
        outcome = run_planned(test, planned, context, judged.judge_waiting)
        if not planned.additional:
            schedule.record(planned.trial, outcome.features, refused=outcome.refused_body)
        judged.add(planned, outcome)
        if judged.enough:
            break
        del outcome
        judged.free_memory()
    judged.finish()


def schedule_of(judged: JudgedTrials) -> Schedule:
    """Return the order of the trials whose outcomes `judged` collects."""
    options = judged.context.options
    attempts = judged.needed * ATTEMPTS_PER_TRIAL
    return Schedule(attempts, first=options.first_trial, thorough=options.half_precision)


def not_lethal(
    crumb: breadcrumb.Breadcrumb | None,
    test: Test,
    trials: Iterable[PlannedTrial],
    lethal: Set[int],
    pairs: Iterable[Pair],
) -> Iterator[PlannedTrial]:
    """Yield the trials whose seeds are not in `lethal`; write each to the breadcrumb file before it runs on `pairs`."""
    base: int | None = None
    frameworks = [pair.names for pair in pairs if pair.names is not None]
    for planned in trials:
        if planned.seed in lethal:
            continue
        if crumb is not None:
            if planned.base != base:
                crumb.test(test.file, test.id, planned.base, frameworks=frameworks)
                base = planned.base
            crumb.trial(planned.trial)
        yield planned


def run_planned(test: Test, planned: PlannedTrial, context: RunContext, first: Callable[[], None]) -> Outcome:
    """Run one trial, without the comparison. `first` reports the findings of earlier trials if the body raises."""
    try:
        return run_next_without_comparison(test, planned.seed, context.pair, planned.all_require_grad)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # pytest's own exceptions, as of `pytest.skip`, are no `Exception`
        first()
        if isinstance(error, Exception) and not isinstance(error, (AutotestError, unittest.SkipTest)):
            annotate(error, text.own_failure(planned.trial, planned.base))
        raise


def plan(test: Test, options: Options, store: Store, schedule: Schedule) -> Iterator[PlannedTrial]:
    """Yield pinned trials and stored failures, then the trials of `schedule`, until the caller has enough.

    This generator does not run the trials, because it would turn a `StopIteration` of the test body into another error.
    """
    base = options.seed
    if options.trial is not None:
        yield PlannedTrial(base, options.trial, trial_seed(base, test.id, options.trial), additional=False)
        return
    yield from dict.fromkeys(_additional(test, options, store))  # one trial may have several stored failures
    for index in schedule:
        seed = trial_seed(base, test.id, index)
        yield PlannedTrial(base, index, seed, additional=False, all_require_grad=not schedule.has_accepted)


def _additional(test: Test, options: Options, store: Store) -> Iterator[PlannedTrial]:
    """Yield the pinned trials of `test`, and those of its stored failures."""
    for pinned, index in test.settings.pinned:
        yield PlannedTrial(pinned, index, trial_seed(pinned, test.id, index), additional=True)
    for record in store.for_test(test.id, test.file) if options.replays_failures else ():
        if record.finding.first.symptom not in DEADLY:
            yield PlannedTrial(record.finding.base_seed, record.index, record.seed, additional=True)
