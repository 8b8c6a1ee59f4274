"""The loop of trials of one test.

Enters a `Test` and the process's `Options`; returns when the test passed, and otherwise raises one
exception that says what was found and what brings it back. Seeds, stored failures, rejections and the
ledger are dealt with here; a single trial is `autotest.trial`, what a mismatch means `autotest.diagnosis.failed_trial`.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import os
import unittest
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from autotest import breadcrumb, driving, graph, listening
from autotest.campaigns import deaths
from autotest.diagnosis import failed_trial
from autotest.errors import (
    AutotestError,
    Divergence,
    GradientNotCompared,
    NothingCompared,
    StaleLedgerEntry,
    TooFewAccepted,
    annotate,
)
from autotest.finding import Finding
from autotest.frameworks import Pair
from autotest.identity import trial_seed
from autotest.ledger import Ledger
from autotest.options import Options
from autotest.program import operator_of
from autotest.recorder import watched
from autotest.report import text
from autotest.storage.store import Store, StoreUnwritable
from autotest.tasks import DEADLY
from autotest.trial import Outcome, Test, run_trial

# What runs a test is no part of its traceback: for pytest, for unittest.
__tracebackhide__ = True
__unittest = True

#: A test gives up when it has tried this many times as many trials as it needs.
ATTEMPTS_PER_TRIAL = 20


@dataclasses.dataclass(slots=True)
class Tally:
    """What the trials of a test came to."""

    accepted: int = 0
    rejections: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    compared: int = 0
    gradients: int = 0
    #: Trials whose mismatches proved to be rounding, where the test gave no tolerance of its own.
    cleared: int = 0
    #: How often each entry of the ledger was met.
    expected: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: How much was compared in graph mode, and how many trials were left out of it, or in part, by reason.
    graphed: int = 0
    left_out: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)


def run_test(test: Test, pair: Pair, options: Options, ledger: Ledger) -> Tally:
    """Run the trials of `test`.

    Raises:
        Divergence: the frameworks disagreed in a way that the ledger does not expect.
        NothingCompared: a trial ended without any comparison.
        GradientNotCompared: a trial could have compared a gradient, and compared none.
        TooFewAccepted: the reference refused nearly everything.
        StaleLedgerEntry: the ledger expects a divergence that did not happen.
    """
    with pair.around_trials():
        driver = driving.driver() or _outside(test, ledger)
        if driver is not None:
            driver(test, pair, ledger)
            return Tally()
        return _run_here(test, pair, options, ledger)


def _outside(test: Test, ledger: Ledger) -> driving.Driver | None:
    """Who runs a test in another process: one that is known to kill the process which it runs in."""
    if not ledger.expects_death(test.id):
        return None
    from autotest.campaigns import apart  # brings a pool of processes, and uses what stands in here

    return apart.shared(os.getpid())


def _run_here(test: Test, pair: Pair, options: Options, ledger: Ledger) -> Tally:
    tally = Tally()
    listening.begins(test, pair, options, tally)
    lethal = _outlive(test, options, ledger, tally)
    trail = breadcrumb.own(options.directory.absolute(), os.getpid())
    try:
        with contextlib.nullcontext() if trail is None else watched(trail):
            _run_trials(test, pair, options, ledger, tally, lethal, trail)
    finally:
        if trail is not None:
            trail.rest()
    return tally


def _outlive(test: Test, options: Options, ledger: Ledger, tally: Tally) -> set[int]:
    """Report what earlier processes died of in this test, which no trial in this one can; returns seeds to avoid."""
    lethal: set[int] = set()
    for finding, place in deaths.known(test.id, options):
        entry = ledger.expects(test.id, finding.first, finding.operator)
        if entry is None:
            raise Divergence(text.divergence(finding, place, ""), finding, place)
        tally.expected[entry.key] += 1
        lethal.add(finding.seed)
    return lethal


def _run_trials(
    test: Test,
    pair: Pair,
    options: Options,
    ledger: Ledger,
    tally: Tally,
    lethal: Set[int],
    trail: breadcrumb.Breadcrumb | None,
) -> None:
    store = Store(options.directory)
    needed = options.trials(test.settings.n)
    followed: int | None = None
    graphed: list[tuple[int, int, Outcome]] = []
    for base, index, seed, stored in _plan(test, options, store, needed):
        if seed in lethal:
            continue
        if trail is not None:
            if base != followed:
                trail.test(test.file, test.id, base)
                followed = base
            trail.trial(index)
        try:
            outcome = run_trial(test.body, seed, test.settings, pair)
        except (AutotestError, unittest.SkipTest):
            raise
        except Exception as error:
            annotate(error, text.own_failure(index, base))
            raise
        if stored and not outcome.mismatches:
            continue
        if outcome.rejection is not None:
            tally.rejections[outcome.rejection.reason] += 1
        elif outcome.mismatches:
            first = outcome.mismatches[0]
            entry = ledger.expects(test.id, first, operator_of(outcome.recorder.calls, first.slot))
            if entry is None and failed_trial.cleared(test, outcome, pair) is not None:
                tally.cleared += 1
                tally.accepted += 1
            elif entry is None:
                # A stored failure may have another base seed than this run, and is brought back by its own.
                raise _divergence(test, outcome, pair, dataclasses.replace(options, seed=base), index, store)
            else:
                tally.expected[entry.key] += 1
                tally.accepted += 1
        elif not outcome.compared:
            raise NothingCompared(text.nothing_compared(test.id, outcome.seed, index))
        elif outcome.complaint:
            raise GradientNotCompared(text.gradient_not_compared(test.id, outcome.seed, index, outcome.complaint))
        else:
            tally.accepted += 1
            if test.settings.check_graph and pair.candidate.graph_mode:
                graphed.append((base, index, outcome))
                if len(graphed) == graph.AT_ONCE:
                    _agree_in_graph_mode(test, pair, options, ledger, tally, graphed, store)
                    graphed = []
        tally.compared += outcome.compared
        tally.gradients += outcome.gradients
        if tally.accepted >= needed:
            break
    if tally.accepted < needed and options.trial is None:
        raise TooFewAccepted(text.too_few_accepted(test.id, tally.accepted, needed, tally.rejections))
    _agree_in_graph_mode(test, pair, options, ledger, tally, graphed, store)
    if options.usual:
        stale = [entry for entry in ledger.entries_for(test.id) if entry.key not in tally.expected]
        if stale:
            raise StaleLedgerEntry(text.stale_entries(test.id, stale))


class _Planned(NamedTuple):
    base: int
    trial: int
    seed: int
    stored: bool


def _plan(test: Test, options: Options, store: Store, needed: int) -> Iterator[_Planned]:
    """Stored failures first, then trials 0, 1, 2, ... until the caller has enough.

    Trials are not run in here: a generator would turn a `StopIteration` of the test body into something else.
    """
    base = options.seed
    if options.trial is not None:
        yield _Planned(base, options.trial, trial_seed(base, test.id, options.trial), stored=False)
        return
    for record in store.for_test(test.id):
        if record.finding.first.symptom not in DEADLY:
            yield _Planned(record.finding.base_seed, record.index, record.seed, stored=True)
    for index in range(needed * ATTEMPTS_PER_TRIAL):
        yield _Planned(base, index, trial_seed(base, test.id, index), stored=False)


def _agree_in_graph_mode(
    test: Test,
    pair: Pair,
    options: Options,
    ledger: Ledger,
    tally: Tally,
    graphed: Sequence[tuple[int, int, Outcome]],
    store: Store,
) -> None:
    """Replay the programs of trials that found nothing in the candidate's graph mode, all at once."""
    if not graphed:
        return
    report = graph.check([outcome.recorder for _, _, outcome in graphed], test.settings)
    tally.graphed += report.compared
    tally.left_out += report.left_out
    for (base, index, outcome), mismatches in zip(graphed, report.mismatches, strict=True):
        if mismatches:
            outcome.mismatches = mismatches
            first = mismatches[0]
            entry = ledger.expects(test.id, first, operator_of(outcome.recorder.calls, first.slot))
            if entry is None:
                raise _divergence(test, outcome, pair, dataclasses.replace(options, seed=base), index, store)
            tally.expected[entry.key] += 1


def _divergence(test: Test, outcome: Outcome, pair: Pair, options: Options, index: int, store: Store) -> Divergence:
    finding = failed_trial.diagnose(test, outcome, pair, options, index)
    place, trouble = _keep(finding, store)
    return Divergence(text.divergence(finding, place, trouble), finding, place)


def _keep(finding: Finding, store: Store) -> tuple[str, str]:
    """Where the finding was put, and what stood in the way of the proper place."""

    def report(place: Path) -> str:
        return text.divergence(finding, str(place), "")

    try:
        return str(store.save(finding, report)), ""
    except StoreUnwritable as error:
        return str(Store.temporary().save(finding, report)), str(error)
