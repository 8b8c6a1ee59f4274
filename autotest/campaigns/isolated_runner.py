"""Runs the trials of one test in a worker process, which may die of them."""

from __future__ import annotations

import collections
import contextlib
import functools
from pathlib import Path

from autotest.base.errors import (
    AutotestError,
    GradientNotCompared,
    NothingCompared,
    StaleLedgerEntry,
    TooFewAccepted,
    UsageError,
)
from autotest.base.options import Options, from_environment
from autotest.campaigns.campaign import Campaign, Plan
from autotest.campaigns.workers import Workers
from autotest.frameworks import Pair
from autotest.report import text
from autotest.results.divergence import Divergence
from autotest.results.finding import Finding
from autotest.results.ledger import Ledger
from autotest.results.progress import Standing, TestStanding
from autotest.results.tasks import Conditions, Found, Where, is_set_aside
from autotest.running import run_hooks
from autotest.running.runner import ATTEMPTS_PER_TRIAL
from autotest.running.tally import Tally
from autotest.sources.identity import trial_seed
from autotest.storage.store import Store
from autotest.trials.trial import Test

# What runs a test is no part of its traceback.
__tracebackhide__ = True
__unittest = True

#: How many workers a test lost, by test and call.
Deaths = collections.Counter[tuple[str, str]]


class Apart:
    """One worker process for as many tests as come along; started by the first. Is a `Driver`."""

    def __init__(self) -> None:
        self._workers: Workers | None = None

    def __call__(self, test: Test, pair: Pair, ledger: Ledger) -> None:
        """Run the trials of `test`; raises as `autotest.running.runner.run_test` does."""
        options = from_environment()
        tally = Tally()
        run_hooks.begins(test, pair, options, tally)
        run_apart(test, self._ready(options), options, ledger, tally)

    def _ready(self, options: Options) -> Workers:
        if self._workers is None:
            # What a trial may be refused for is tried on the candidate too: it can only cost the worker.
            conditions = Conditions(
                options.directory,
                check_errors=True,
                shrink=options.shrink,
                verify=options.verify,
                deadline=options.deadline,
                memory=options.memory,
            )
            workers = Workers(conditions, 1)
            workers.prepare()
            self._workers = workers
        return self._workers

    def close(self) -> None:
        """End the worker."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None


@functools.lru_cache(maxsize=4)
def shared(pid: int) -> Apart:
    """The worker process of this process, whose id is `pid`, for tests that nobody else has one for."""
    import atexit

    apart = Apart()
    atexit.register(apart.close)
    return apart


def run_apart(test: Test, workers: Workers, options: Options, ledger: Ledger, tally: Tally) -> None:
    """Stored failures first, then trials 0, 1, 2, ... until enough were accepted or something was found.

    A death that the ledger expects counts as accepted, and what would only repeat it counts as tried.
    """
    if test.file is None:
        raise UsageError(f"{test.id} cannot run in a worker process, which has no file to find it in")
    deaths: Deaths = collections.Counter()
    if options.trial is None:
        for record in Store(options.directory).for_test(test.id):
            _go(test, test.file, workers, options, Tally(), deaths, record.finding.base_seed, record.index, 1)
    needed = options.trials(test.settings.n)
    at, end = options.trial or 0, needed * ATTEMPTS_PER_TRIAL
    while tally.accepted < needed and at < end:
        missing = min(needed - tally.accepted, end - at)
        needed -= _go(test, test.file, workers, options, tally, deaths, options.seed, at, missing)
        at += missing
        if options.trial is not None:
            return
    if tally.accepted < needed:
        raise TooFewAccepted(text.too_few_accepted(test.id, tally.accepted, needed, tally.rejections))
    stale = [entry for entry in ledger.entries_for(test.id) if entry.key not in tally.expected]
    if options.usual and stale:
        raise StaleLedgerEntry(text.stale_entries(test.id, stale))


def _go(
    test: Test,
    file: Path,
    workers: Workers,
    options: Options,
    tally: Tally,
    deaths: Deaths,
    base: int,
    first: int,
    count: int,
) -> int:
    """Run `count` trials from `first` on and add them to `tally`; raises what they found.

    Returns how many of them were left out, because they make a call that killed already.
    """
    one = TestStanding(Where(file, test.id, base), next=first)
    standing = Standing(base, [one], deaths=deaths)
    Campaign(standing, Plan(base, trials=first + count, fail_fast=True, deaths=1), workers, _Silent()).run()
    left_out = collections.Counter({why: times for why, times in one.rejections.items() if is_set_aside(why)})
    tally.rejections += one.rejections - left_out
    tally.expected += standing.expected
    tally.cleared += standing.cleared
    tally.compared += one.compared
    if standing.stopped == "interrupted":
        raise KeyboardInterrupt
    for found in standing.found.values():
        raise Divergence(found.report, _finding(found, options), found.place)
    tally.accepted += one.accepted + one.died
    if standing.vanished:
        where, index = standing.vanished[0]
        raise AutotestError(f"{where.test}: trial {index} failed, and did not when it was run again")
    for complaint, times in one.forgotten.items():
        raise GradientNotCompared(f"{test.id}: {times} of {one.tried} trials forgot their gradients: {complaint}.")
    if one.broken:
        raise AutotestError(f"{test.id}, in its worker process:\n{one.broken}")
    if one.accepted and not one.compared and not standing.expected:
        raise NothingCompared(text.nothing_compared(test.id, trial_seed(base, test.id, first), first))
    return left_out.total()


def _finding(found: Found, options: Options) -> Finding | None:
    with contextlib.suppress(AutotestError):
        return Store(options.directory).load(found.key).finding
    return None


class _Silent:
    """An observer that nobody asks."""

    def changed(self, standing: Standing) -> None:
        pass

    def found(self, found: Found) -> None:
        pass
