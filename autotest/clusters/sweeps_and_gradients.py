"""Sweeps and gradient accounts on a cluster: their units and tests are handed out like the tasks of a campaign."""

from __future__ import annotations

import collections
import copy
import functools
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from autotest.base.errors import AutotestError
from autotest.clusters.cluster import Cluster, GroupExecutor
from autotest.clusters.messages import AccountTask, ExplainTask
from autotest.results.gradient_account import GradientAccount
from autotest.results.sweep_findings import SweepFinding
from autotest.results.tasks import Where
from autotest.storage.stored_account import StoredAccount
from autotest.sweeping.engine import ReportCell, SweepEngine
from autotest.sweeping.explaining import fill_in_texts
from autotest.sweeping.units import Unit
from autotest.sweeping.worker import Databases

T = TypeVar("T")

#: The attributes of a finding that are set when it has been explained.
_LOOKED_INTO: Final = ("verdict", "blame", "text", "script", "finding", "verified")


def run_on_groups(
    cluster: Cluster,
    tasks: Iterable[T],
    stop: Callable[[], bool] = lambda: False,
    done: Callable[[str, T], bool] = lambda *_: False,
) -> Iterator[tuple[str, T, Any]]:
    """Run all `tasks` on every group of machines, as many at a time as the group has room for.

    A group whose first machine joins late begins with the first task.

    Args:
        cluster: the cluster, which must be prepared.
        tasks: the tasks; they are taken from the iterable only when they are started.
        stop: called before each task is started; True starts no more tasks.
        done: called with a group and a task; True leaves out the task for this group, as done already.

    Yields:
        The group, the task and its result.

    Raises:
        AutotestError: if no group has a machine any more.
    """
    # The next tasks may depend on earlier results, so no more tasks are taken from the iterable than there is room for.
    (source,) = itertools.tee(tasks, 1)
    known: dict[str, _GroupRun[T]] = {}
    lost = 0
    while True:
        for group in cluster.groups:
            if group not in known:
                waiting = copy.copy(source) if cluster.each else source
                left = itertools.filterfalse(functools.partial(done, group), waiting)
                known[group] = _GroupRun(cluster.only(group), left)
        running = [one for one in known.values() if one.under_way or one.more]
        if not running:
            return
        for one in running:
            one.begin(stop)
            try:
                finished = one.finished()
            except AutotestError as error:
                lost += 1
                if lost == len(known):
                    raise
                cluster.give_up(error)
                one.under_way, one.more = 0, False
                continue
            for task, result in finished:
                yield one.part.group, task, result


class _GroupRun(Generic[T]):
    """The progress of one group of machines."""

    def __init__(self, part: GroupExecutor, waiting: Iterator[T]) -> None:
        self.part, self._waiting = part, waiting
        self.under_way, self.more = 0, True

    def begin(self, stop: Callable[[], bool]) -> None:
        """Start as many tasks as there is room for."""
        while self.more and self.under_way < self.part.slots + self.part.diagnosis_slots:
            task = None if stop() else next(self._waiting, None)
            if task is None:
                self.more = False
            else:
                self.part.start(task)
                self.under_way += 1

    def finished(self) -> Sequence[tuple[T, Any]]:
        """Return the finished tasks and their results, after a short wait."""
        found = self.part.wait(0.5) if self.under_way else ()
        self.under_way -= len(found)
        return found


class SweepOnCluster(SweepEngine):
    """A sweep engine that judges units and explains findings on a cluster. The units are listed on this machine."""

    def __init__(self, cluster: Cluster, jobs: int, deadline: float, memory: int | None, databases: Databases) -> None:
        super().__init__(jobs, deadline, memory, databases)
        self._cluster = cluster

    def __enter__(self) -> SweepOnCluster:
        try:
            self._cluster.prepare()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *details: object) -> None:
        self._cluster.close()
        super().__exit__(*details)

    def run(self, units: Iterable[Unit], report: ReportCell, stop: Callable[[], bool] = lambda: False) -> None:
        times = collections.Counter[int]()
        for group, unit, parts in run_on_groups(self._cluster, units, stop):
            times[unit.number] += 1
            for cell, done in parts:
                if self._cluster.each:
                    cell.of_group(group)
                # A unit is complete when every group has completed it.
                report(unit, cell, done and times[unit.number] == len(self._cluster.groups))

    def diagnose_findings(self, findings: Sequence[SweepFinding], explain: float, verify: float) -> None:
        """Explain each finding on a group that showed it: other machines, and this one, may have other frameworks."""
        end = time.monotonic() + explain
        own = {finding.number: finding for finding in findings if finding.program is not None}
        asked = (
            ExplainTask(finding, end - time.monotonic(), verify)
            for finding in sorted(own.values(), key=lambda one: one.size)
        )

        def elsewhere(group: str, look: ExplainTask) -> bool:
            return group != max(self._cluster.groups, key=lambda one: look.finding.groups.get(one, 0))

        try:
            for _, _, found in run_on_groups(self._cluster, asked, lambda: time.monotonic() >= end, elsewhere):
                for name in _LOOKED_INTO:
                    setattr(own[found.number], name, getattr(found, name))
        except AutotestError as error:  # no machines are left; the findings are reported without a verdict
            for finding in own.values():
                finding.verdict = finding.verdict or (f"no verdict: {error}",)
        finally:
            fill_in_texts(findings)

    def workers(self) -> dict[str, int]:
        """Return each group's number of workers if every group judges all units; empty if only one group takes part."""
        return {group: self._cluster.room(group)[0] for group in self._cluster.groups} if self._cluster.each else {}

    def machines(self) -> list[str]:
        """Return one line for each group that works, and for each reason for which machines were refused."""
        return self._cluster.machines()


def account_on(
    cluster: Cluster, tests: Sequence[Where], trials: int, kept: StoredAccount
) -> Mapping[str, GradientAccount]:
    """Run at most `trials` trials of each test on each group of machines of a cluster, and close the cluster.

    Tests whose account an earlier run has stored in `kept` are not run again. Returns the accounts by group.
    """
    try:
        cluster.prepare()
        kept.begin()  # only when the cluster is prepared: a mistyped address must not delete an earlier account
        accounts: dict[str, GradientAccount] = {}

        def named(group: str) -> str:
            # The name of the group is used only if there may be several: a run on one group may be resumed on another.
            return group if cluster.each else ""

        def account_of_group(group: str) -> GradientAccount:
            return accounts.setdefault(group, kept.all_of(tests, named(group)))

        def done(group: str, task: AccountTask) -> bool:
            return kept.account(task.where, named(group)) is not None

        for group, task, result in run_on_groups(cluster, [AccountTask(test, trials) for test in tests], done=done):
            account_of_group(group).take(result)
            kept.add(task.where, result, named(group))
        for group in cluster.groups:
            account_of_group(group)
    finally:
        cluster.close()
    return accounts
