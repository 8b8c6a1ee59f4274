"""Runs the trials of one test in a worker process, so that a crash ends the worker and not this process."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import itertools
import os
import unittest
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from autotest.base.errors import AutotestError, GradientNotCompared, NothingCompared, UsageError
from autotest.base.settings import ATTEMPTS_PER_TRIAL
from autotest.base.working_folder import working_folder
from autotest.campaigns.campaign import Campaign, Plan
from autotest.campaigns.executor import NullObserver
from autotest.campaigns.workers import Workers
from autotest.report import text
from autotest.report.activity import doing
from autotest.results.divergence import Divergence
from autotest.results.finding import Finding
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.tasks import Conditions, FindingRecord, Where
from autotest.running import run_hooks, whole_test
from autotest.running.tally import Tally
from autotest.sources.test_names import trial_seed
from autotest.storage.keeping import latest
from autotest.storage.store import Store
from autotest.trials.context import RunContext
from autotest.trials.decorated import Test
from generators import Schedule

# The frames of the runner are hidden in tracebacks of tests.
__tracebackhide__ = True
__unittest = True

#: Number of workers that a test lost, by test and call.
Deaths = collections.Counter[tuple[str, str]]


#: With what a worker is started: the deadline of trials, the frameworks, and whether it imports them itself.
_Asked: TypeAlias = tuple[float, tuple[str, str], bool]


class IsolatedRunner:
    """A `Driver` with one worker process for each candidate, started by the first test and shared by all that follow.

    A test with another deadline or another candidate of its own gets another worker in place of these.
    """

    def __init__(self) -> None:
        self._workers: dict[_Asked, Workers] = {}

    def __call__(self, test: Test, context: RunContext) -> None:
        """Run the trials of `test`. Raises the same exceptions as `autotest.running.runner.run_test`."""
        tally = Tally()
        run_hooks.begins(test, context, tally)
        if test.file is None:
            raise UsageError(
                f"{test.id} cannot run in a worker process, because no file contains it: write it in a file, or run it "
                "in this process, without --autotest-isolate"
            )
        own_import = context.pair.needs_own_import(test.settings.check_graph)
        _Trials(test, test.file, context, self._ready(context, own_import=own_import), self.close).run(tally)

    def _ready(self, context: RunContext, *, own_import: bool = False) -> Workers:
        options = context.options
        names = context.pair.names_elsewhere()
        asked = options.deadline, names, own_import
        if asked not in self._workers:
            while len(self._workers) > len(context.pair.others):
                self._workers.pop(next(iter(self._workers))).close()
            # Calls that the reference refuses are run on the candidate too: a crash there costs only the worker.
            conditions = Conditions(
                options.directory,
                names,
                options.ledger,
                own_import=own_import,
                check_errors=True,
                shrink=options.shrink,
                verify=options.verify,
                deadline=options.deadline,
                memory=options.memory,
            )
            workers = Workers(conditions, 1, in_turn=True)
            with _in_working_folder():
                workers.prepare()
            self._workers[asked] = workers
        return self._workers[asked]

    def close(self) -> None:
        """End the workers."""
        while self._workers:
            self._workers.popitem()[1].close()


@contextlib.contextmanager
def _in_working_folder() -> Iterator[None]:
    """Work in the working folder inside the block, although a fixture of the first test may have changed to another."""
    before = Path.cwd()
    os.chdir(working_folder())
    try:
        yield
    finally:
        os.chdir(before)


@functools.lru_cache(maxsize=4)
def shared(pid: int) -> IsolatedRunner:
    """Return the runner of this process, whose id is `pid`, for tests for which no other runner was set up."""
    import atexit

    runner = IsolatedRunner()
    atexit.register(runner.close)
    return runner


@dataclasses.dataclass(slots=True)
class _Trials:
    """The trials of one test in a worker process: a campaign of one test that ends at its first finding."""

    test: Test
    file: Path
    context: RunContext
    workers: Workers
    #: Ends the workers. Another test gets others.
    end_workers: Callable[[], None]
    #: Number of workers that the test lost, by call.
    deaths: Deaths = dataclasses.field(default_factory=collections.Counter)
    #: The signatures of the calls that killed workers, if they were recorded.
    fatal_arguments: dict[tuple[str, str], set[str]] = dataclasses.field(default_factory=dict)

    def run(self, tally: Tally) -> None:
        """Run pinned trials, stored failures, then trials 0, 1, 2, ... until enough were accepted or one is a finding.

        A death that the ledger expects counts as accepted. Each trial that is left out because it would repeat such a
        death lowers the number of trials that are needed.
        """
        test, options = self.test, self.context.options
        if options.trial is None:
            tally.expected += self._run_additional()
        needed = options.trials(test.settings.n)
        if options.trial is not None:
            needed -= self._explore(options.seed, range(options.trial, options.trial + 1), tally).avoided.total()
        else:
            needed = self._run_scheduled(needed, tally)
        if refused := whole_test.refusal(test, self.context, tally, needed):
            raise refused
        if omitted := whole_test.omission(test, self.context, tally, error_parity=True):
            raise omitted

    def _run_scheduled(self, needed: int, tally: Tally) -> int:
        """Run trials until `needed` were accepted, in the order in which the test's own process would run them.

        Returns how many were needed in the end. Until the reference refuses one, the order is known in advance, so that
        the worker gets all of them at once, and stops after the first that is refused.
        """
        options = self.context.options
        schedule = Schedule(needed * ATTEMPTS_PER_TRIAL, thorough=options.half_precision)
        waiting, refused = iter(schedule), False
        while tally.counted < needed:
            indices = [*itertools.islice(waiting, 1 if refused else needed - tally.counted)]
            if not indices:
                break
            unrun: list[int] = []
            for part in _ranges(indices):
                if unrun:
                    unrun += part
                    continue
                all_require_grad = refused and not schedule.has_accepted
                ran = self._explore(options.seed, part, tally, all_require_grad=all_require_grad)
                needed -= ran.avoided.total()
                for drawn in ran.drawn:
                    schedule.record(drawn.trial, drawn.features, refused=drawn.refused)
                    refused = refused or drawn.refused
                unrun += sorted(itertools.chain(*ran.unrun))
            schedule.give_back(unrun)
        return needed

    def _run_additional(self) -> collections.Counter[str]:
        """Run the pinned trials and stored failures, and return how often the ledger expects one, by entry.

        They do not count as trials of the test, but a ledger entry that only one of them matches is not stale.
        """
        stored = Store(self.context.options.directory).for_test(self.test.id, self.file)
        trials = [*self.test.settings.pinned, *((one.finding.base_seed, one.index) for one in stored)]
        tally = Tally()
        for base, index in dict.fromkeys(trials):
            self._explore(base, range(index, index + 1), tally)
        return tally.expected

    def _explore(self, base: int, indices: range, tally: Tally, *, all_require_grad: bool = False) -> TestProgress:
        """Run the trials `indices`, add their results to `tally`, and return them. Raises the finding, if there is one.

        Trials that make a call which has already killed a worker are left out, and are among those `avoided`.
        """
        test = self.test
        one = TestProgress(Where(self.file, test.id, base), next=indices.start)
        progress = CampaignProgress(base, [one], deaths=self.deaths, fatal_arguments=self.fatal_arguments)
        options, candidate = self.context.options, self.context.pair.candidate.name
        plan = Plan(
            base,
            trials=indices.stop,
            fail_fast=True,
            deaths=1,
            candidate=candidate,
            coverage=options.coverage,
            drawn=True,
            until_refused=True,
            all_require_grad=all_require_grad,
        )
        with contextlib.ExitStack() as stack:
            try:
                Campaign(progress, plan, self.workers, _DiagnosisDisplay(stack)).run()
            except BaseException:  # such as by the alarm of pytest-timeout: its tasks still run, for nobody
                self.end_workers()
                raise
        _add(one, progress, tally)
        self._raise_what_ended(one, progress)
        return one

    def _raise_what_ended(self, one: TestProgress, progress: CampaignProgress) -> None:
        """Raise the finding, or what is wrong with the test or its trials; nothing if the trials passed."""
        test = self.test
        if progress.interrupted:
            raise KeyboardInterrupt
        for found in progress.found.values():
            raise Divergence(found.report, self._finding(found), found.place)
        if progress.undiagnosed:
            where, index, why = progress.undiagnosed[0]
            raise AutotestError(
                f"{where.test}: in trial {index} of base seed {where.base_seed} the sides differed, but the diagnosis "
                f"failed:\n{why}"
            )
        if progress.vanished:
            where, index = progress.vanished[0]
            raise AutotestError(
                f"{where.test}: in trial {index} of base seed {where.base_seed} the sides differed, but not when the "
                "same trial ran again: a side gives another result each time, as one that reads memory which nothing "
                f"has written does. AUTOTEST_SEED={where.base_seed} AUTOTEST_TRIAL={index} and the test's own command "
                "try it once more"
            )
        for complaint, times in one.forgotten.items():
            raise GradientNotCompared(test.id, f"{times} of {one.tried} trials compared no gradients: {complaint}.")
        if one.skips:
            raise unittest.SkipTest(one.skips)
        if one.vacuous is not None:
            said = text.nothing_compared(trial_seed(one.where.base_seed, test.id, one.vacuous), one.vacuous)
            raise NothingCompared(test.id, said)
        if one.broken:
            raise AutotestError(f"{test.id}, in its worker process:\n{one.broken}")

    def _finding(self, found: FindingRecord) -> Finding | None:
        with contextlib.suppress(AutotestError):
            return latest(self.context.options.directory, found.key).finding
        return None


def _add(one: TestProgress, progress: CampaignProgress, tally: Tally) -> None:
    """Add the results of one test's trials to `tally`."""
    # A finding is no accepted trial: summaries count it in addition.
    tally.accepted += one.accepted + one.died - len(progress.found)
    tally.rejections += one.rejections
    tally.places = {**one.places, **tally.places}
    tally.expected += progress.expected
    tally.cleared += progress.cleared
    tally.compared += one.compared
    tally.gradient_tally.add(one.gradient_tally)
    tally.zeros.add(one.zeros)
    tally.graphed += one.graphed
    tally.left_out += one.left_out
    tally.coverage.append(progress.covered)


def _ranges(indices: Sequence[int]) -> Iterator[range]:
    """Yield ascending `indices` as ranges: those of a thorough run have a gap after the first block."""
    begin = 0
    for end in range(1, len(indices) + 1):
        if end == len(indices) or indices[end] != indices[end - 1] + 1:
            yield range(indices[begin], indices[end - 1] + 1)
            begin = end


class _DiagnosisDisplay(NullObserver):
    """An observer that shows on the terminal that a failure is being diagnosed, until the diagnosis has ended."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self._told = False

    def changed(self, progress: CampaignProgress) -> None:
        if progress.seen and not self._told:
            self._told = True
            self._stack.enter_context(doing("diagnosing a failure"))
