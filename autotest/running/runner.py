"""The loop of trials of one test."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import os
import unittest
from collections.abc import Iterator, Set
from pathlib import Path
from typing import NamedTuple

from autotest.base.errors import (
    AutotestError,
    GradientNotCompared,
    NothingCompared,
    StaleLedgerEntry,
    TooFewAccepted,
    annotate,
)
from autotest.base.options import Options
from autotest.comparison.rejection import ABSENT
from autotest.diagnosis import failed_trial
from autotest.diagnosis.beyond_known import look_beyond
from autotest.processes import breadcrumb
from autotest.recording.given import given
from autotest.recording.watching import watched
from autotest.replaying import graph_check
from autotest.report import text
from autotest.results.divergence import Divergence
from autotest.results.finding import Finding
from autotest.results.identity import DEADLY
from autotest.running import deaths, run_hooks
from autotest.running.tally import Tally
from autotest.sources.identity import trial_seed
from autotest.storage.store import Store, StoreUnwritable
from autotest.trials.context import RunContext
from autotest.trials.judgement import (
    Accepted,
    Cleared,
    Diverged,
    Expected,
    GradientMissing,
    Judgement,
    Rejected,
    Vacuous,
    judge,
)
from autotest.trials.trial import COMPARED_AT_ONCE, Outcome, Test, perform, settle
from generators import Schedule

# What runs a test is no part of its traceback: for pytest, for unittest.
__tracebackhide__ = True
__unittest = True

#: A test gives up when it has tried this many times as many trials as it needs.
ATTEMPTS_PER_TRIAL = 20
#: How many more containers than were freed are made before Python looks for cycles among them. A batch of trials makes
#: some thousand, frees them all without that look, and would be looked through several times.
BEFORE_COLLECTION = 10_000
#: How many numbers the reference's tensors may hold that wait to be compared.
HELD_AT_MOST = 1 << 18


def run_test(test: Test, context: RunContext) -> Tally:
    """Run the trials of `test`.

    Raises:
        Divergence: the frameworks disagreed in a way that the ledger does not expect.
        NothingCompared: a trial ended without any comparison.
        GradientNotCompared: a trial could have compared a gradient, and compared none.
        TooFewAccepted: the reference refused nearly everything.
        StaleLedgerEntry: the ledger expects a divergence that did not happen.
    """
    with context.pair.around_trials():
        return _run_trials(test, context)


def _run_trials(test: Test, context: RunContext) -> Tally:
    tally = Tally()
    run_hooks.begins(test, context, tally)
    lethal = _outlive(test, context, tally)
    trail = breadcrumb.own(context.options.directory.absolute(), os.getpid())
    try:
        with _collected_rarely(), contextlib.nullcontext() if trail is None else watched(trail):
            _Trials(test, context, tally, Store(context.options.directory)).run(lethal, trail)
    finally:
        if trail is not None:
            trail.rest()
    return tally


@contextlib.contextmanager
def _collected_rarely() -> Iterator[None]:
    """Let Python's garbage collector run less often inside the block, unless it is off or runs more rarely still."""
    usual = gc.get_threshold()
    if 0 < usual[0] < BEFORE_COLLECTION:
        gc.set_threshold(BEFORE_COLLECTION, *usual[1:])
    try:
        yield
    finally:
        if gc.get_threshold()[0] == BEFORE_COLLECTION:  # else the test wanted another
            gc.set_threshold(*usual)


def _outlive(test: Test, context: RunContext, tally: Tally) -> set[int]:
    """Report what earlier processes died of in this test, which no trial in this one can; returns seeds to avoid."""
    lethal: set[int] = set()
    for finding, place in deaths.known(test.id, context):
        entry = context.ledger.expects(test.id, finding.first, finding.identity.operator)
        if entry is None:
            raise Divergence(text.divergence(finding, place, ""), finding, place)
        tally.expected[entry.key] += 1
        lethal.add(finding.seed)
    return lethal


class _Planned(NamedTuple):
    base: int
    trial: int
    seed: int
    stored: bool


@dataclasses.dataclass(slots=True)
class _Trials:
    """The trials of one test: run one after the other, and compared.

    An asynchronous candidate works on one while the next is run, and is waited for once for several of them.
    """

    test: Test
    context: RunContext
    tally: Tally
    store: Store
    waiting: list[tuple[_Planned, Outcome]] = dataclasses.field(default_factory=list)
    #: How many numbers the reference's tensors hold that wait to be compared.
    held: int = 0
    graphed: list[tuple[int, int, Outcome]] = dataclasses.field(default_factory=list)

    def run(self, lethal: Set[int], trail: breadcrumb.Breadcrumb | None) -> None:
        test, tally = self.test, self.tally
        needed = self.context.options.trials(test.settings.n)
        followed: int | None = None
        schedule = Schedule(needed * ATTEMPTS_PER_TRIAL)
        for planned in _plan(test, self.context.options, self.store, schedule):
            if planned.seed in lethal:
                continue
            if trail is not None:
                if planned.base != followed:
                    trail.test(test.file, test.id, planned.base)
                    followed = planned.base
                trail.trial(planned.trial)
            try:
                outcome = perform(test.body, planned.seed, test.settings, self.context.pair)
            except (AutotestError, unittest.SkipTest):
                self._judge_waiting()  # what earlier trials found comes first
                raise
            except Exception as error:
                self._judge_waiting()
                annotate(error, text.own_failure(planned.trial, planned.base))
                raise
            if not planned.stored:
                schedule.tell(planned.trial, outcome.features, refused=outcome.rejection is not None)
            self.waiting.append((planned, outcome))
            if self._is_time(planned, outcome, needed):
                self._judge_waiting()
            if tally.accepted + tally.absent.total() >= needed:
                break
        self._judge_waiting()
        if tally.absent and not tally.accepted:
            ((what, times),) = tally.absent.most_common(1)
            raise unittest.SkipTest(f"{what} ({times} of {sum(tally.rejections.values())} trials)")
        if tally.accepted + tally.absent.total() < needed and self.context.options.trial is None:
            raise TooFewAccepted(text.too_few_accepted(test.id, tally.accepted, needed, tally.rejections, tally.places))
        self._agree_in_graph_mode()
        if self.context.options.usual:
            stale = [entry for entry in self.context.ledger.entries_for(test.id) if entry.key not in tally.expected]
            if stale:
                raise StaleLedgerEntry(text.stale_entries(test.id, stale))

    def _is_time(self, planned: _Planned, latest: Outcome, needed: int) -> bool:
        """Whether the trials that wait are to be compared before another is run."""
        if latest.pending is not None:
            self.held += latest.pending.elements
        recorder = latest.recorder
        return (
            not self.context.pair.candidate.asynchronous
            or planned.stored
            or len(self.waiting) >= min(COMPARED_AT_ONCE, needed - self.tally.accepted)
            or self.held > HELD_AT_MOST
            or bool(recorder.mismatches)
            or bool(recorder.adopted)  # what another trial uses, too, may be another then
        )

    def _judge_waiting(self) -> None:
        waiting, self.waiting, self.held = self.waiting, [], 0
        settle([outcome for _, outcome in waiting], self.test.settings)
        for planned, outcome in waiting:
            if outcome.mismatches or not planned.stored:
                self._judge(planned, outcome)

    def _judge(self, planned: _Planned, outcome: Outcome) -> None:
        test, tally = self.test, self.tally
        judgement = self._judged(outcome)
        match judgement:
            case Rejected(rejection):
                tally.rejections[rejection.reason] += 1
                tally.places.setdefault(rejection.reason, rejection.place)
                if rejection.type == ABSENT:
                    tally.absent[rejection.text] += 1
            case Diverged():
                raise self._divergence(planned.base, planned.trial, outcome)
            case Vacuous():
                raise NothingCompared(text.nothing_compared(test.id, outcome.seed, planned.trial))
            case GradientMissing(complaint):
                raise GradientNotCompared(text.gradient_not_compared(test.id, outcome.seed, planned.trial, complaint))
            case _:
                tally.accepted += 1
                if self.context.options.coverage:
                    tally.coverage.append(given(outcome.recorder, outcome.gradients))
        tally.compared += outcome.compared
        tally.gradients += outcome.gradients
        if isinstance(judgement, Accepted) and self.context.pair.checks_graph(test.settings.check_graph):
            self.graphed.append((planned.base, planned.trial, outcome))
            if len(self.graphed) == graph_check.AT_ONCE:
                self._agree_in_graph_mode()

    def _judged(self, outcome: Outcome) -> Judgement:
        ledger, pair = self.context.ledger, self.context.pair
        judgement = judge(
            self.test,
            outcome,
            ledger,
            lambda: self._is_rounding(outcome),
            lambda: look_beyond(self.test, outcome, pair, ledger),
        )
        if isinstance(judgement, Expected):
            self.tally.expected.update(entry.key for entry in judgement.entries)
        elif isinstance(judgement, Cleared):
            self.tally.cleared += 1
        return judgement

    def _is_rounding(self, outcome: Outcome) -> bool:
        return failed_trial.cleared(self.test, outcome, self.context.pair) is not None

    def _agree_in_graph_mode(self) -> None:
        """Replay the programs of trials that found nothing in the candidate's graph mode, all at once."""
        graphed, self.graphed = self.graphed, []
        if not graphed:
            return
        report = graph_check.check([outcome.recorder for _, _, outcome in graphed], self.test.settings)
        self.tally.graphed += report.compared
        self.tally.left_out += report.left_out
        for (base, index, outcome), mismatches in zip(graphed, report.mismatches, strict=True):
            if mismatches:
                outcome.mismatches = mismatches
                if isinstance(self._judged(outcome), Diverged):
                    raise self._divergence(base, index, outcome)

    def _divergence(self, base: int, index: int, outcome: Outcome) -> Divergence:
        # A stored failure may have another base seed than this run, and is brought back by its own.
        finding = failed_trial.diagnose(self.test, outcome, self.context.with_base_seed(base), index)
        place, trouble = _keep(finding, self.store)
        return Divergence(text.divergence(finding, place, trouble), finding, place)


def _plan(test: Test, options: Options, store: Store, schedule: Schedule) -> Iterator[_Planned]:
    """Pinned trials and stored failures first, then the trials of `schedule`, until the caller has enough.

    Trials are not run in here: a generator would turn a `StopIteration` of the test body into something else.
    """
    base = options.seed
    if options.trial is not None:
        yield _Planned(base, options.trial, trial_seed(base, test.id, options.trial), stored=False)
        return
    for pinned, index in test.settings.pinned:
        yield _Planned(pinned, index, trial_seed(pinned, test.id, index), stored=True)
    for record in store.for_test(test.id):
        if record.finding.first.symptom not in DEADLY:
            yield _Planned(record.finding.base_seed, record.index, record.seed, stored=True)
    for index in schedule:
        yield _Planned(base, index, trial_seed(base, test.id, index), stored=False)


def _keep(finding: Finding, store: Store) -> tuple[str, str]:
    """Where the finding was put, and what stood in the way of the proper place."""

    def report(place: Path) -> str:
        return text.divergence(finding, str(place), "")

    try:
        return str(store.save(finding, report)), ""
    except StoreUnwritable as error:
        return str(Store.temporary().save(finding, report)), str(error)
