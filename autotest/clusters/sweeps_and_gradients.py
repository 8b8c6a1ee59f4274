"""Sweeps and gradient accounts on a cluster: their units and tests are dealt out as the tasks of a campaign are."""

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
from autotest.clusters.messages import AccountTask, LookInto
from autotest.frameworks.samples import SampleDatabase
from autotest.results.gradient_account import GradientAccount
from autotest.results.sweep_findings import SweepFinding
from autotest.results.tasks import Where
from autotest.storage.stored_account import StoredAccount
from autotest.sweeping.engine import OnCell, SweepEngine
from autotest.sweeping.explaining import told_as_found
from autotest.sweeping.units import Unit

T = TypeVar("T")

#: What of a finding is known when it has been looked into.
_LOOKED_INTO: Final = ("verdict", "blame", "text", "script", "finding", "verified")


def dealt(
    cluster: Cluster,
    tasks: Iterable[T],
    stop: Callable[[], bool] = lambda: False,
    done: Callable[[str, T], bool] = lambda *_: False,
) -> Iterator[tuple[str, T, Any]]:
    """Have every group of machines carry out all `tasks`, as many at a time as it has room for.

    Gives the group, the task and its result. `stop` is asked before another one is begun; what a group has `done`
    already is left out. A group whose first machine comes late begins with the first task; raises `AutotestError`
    when no group has a machine any more.
    """
    # What is begun next may hang on what was found before, so that no more is taken than there is room for.
    (source,) = itertools.tee(tasks, 1)
    known: dict[str, _Dealt[T]] = {}
    lost = 0
    while True:
        for group in cluster.groups:
            if group not in known:
                waiting = copy.copy(source) if cluster.each else source
                left = itertools.filterfalse(functools.partial(done, group), waiting)
                known[group] = _Dealt(cluster.only(group), left)
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


class _Dealt(Generic[T]):
    """How far one group of machines has come."""

    def __init__(self, part: GroupExecutor, waiting: Iterator[T]) -> None:
        self.part, self._waiting = part, waiting
        self.under_way, self.more = 0, True

    def begin(self, stop: Callable[[], bool]) -> None:
        """Begin as many tasks as there is room for."""
        while self.more and self.under_way < self.part.slots + self.part.diagnosis_slots:
            task = None if stop() else next(self._waiting, None)
            if task is None:
                self.more = False
            else:
                self.part.start(task)
                self.under_way += 1

    def finished(self) -> Sequence[tuple[T, Any]]:
        """What was finished, after waiting a little for it."""
        found = self.part.wait(0.5) if self.under_way else ()
        self.under_way -= len(found)
        return found


class SweepOnCluster(SweepEngine):
    """Judges units, and looks into findings, on a cluster. What there is to sweep is listed here."""

    def __init__(
        self,
        cluster: Cluster,
        jobs: int,
        deadline: float,
        memory: int | None,
        databases: Sequence[SampleDatabase] = (),
        *,
        own: bool = True,
    ) -> None:
        super().__init__(jobs, deadline, memory, databases, own=own)
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

    def run(self, units: Iterable[Unit], report: OnCell, stop: Callable[[], bool] = lambda: False) -> None:
        times = collections.Counter[int]()
        for group, unit, parts in dealt(self._cluster, units, stop):
            times[unit.number] += 1
            for cell, done in parts:
                if self._cluster.each:
                    cell.of_group(group)
                # A unit is through when every group is through with it.
                report(unit, cell, done and times[unit.number] == len(self._cluster.groups))

    def look_into(self, findings: Sequence[SweepFinding], explain: float, verify: float) -> None:
        """Have each looked into where it was seen: other machines, and this one, may have other frameworks."""
        end = time.monotonic() + explain
        own = {finding.number: finding for finding in findings if finding.program is not None}
        asked = (
            LookInto(finding, end - time.monotonic(), verify)
            for finding in sorted(own.values(), key=lambda one: one.size)
        )

        def elsewhere(group: str, look: LookInto) -> bool:
            return group != max(self._cluster.groups, key=lambda one: look.finding.groups.get(one, 0))

        try:
            for _, _, found in dealt(self._cluster, asked, lambda: time.monotonic() >= end, elsewhere):
                for name in _LOOKED_INTO:
                    setattr(own[found.number], name, getattr(found, name))
        except AutotestError as error:  # there are no machines any more; what was found is told nevertheless
            for finding in own.values():
                finding.verdict = finding.verdict or (f"no verdict: {error}",)
        finally:
            told_as_found(findings)

    def workers(self) -> dict[str, int]:
        """The groups of machines that each judge all units, with their workers; none where one does."""
        return {group: self._cluster.room(group)[0] for group in self._cluster.groups} if self._cluster.each else {}

    def machines(self) -> list[str]:
        """Who works, and who was refused and why; a line each."""
        return self._cluster.machines()


def account_on(
    cluster: Cluster, tests: Sequence[Where], trials: int, kept: StoredAccount
) -> Mapping[str, GradientAccount]:
    """Run at most `trials` trials of each test on each group of machines of a cluster, which is then let go of.

    What an earlier run has `kept` is not run again.
    """
    try:
        cluster.prepare()
        kept.begin()  # not before there is somebody to work: a mistyped address costs no earlier run its account
        accounts: dict[str, GradientAccount] = {}

        def named(group: str) -> str:
            # By the name of the group only where there may be several: a cluster may be resumed elsewhere.
            return group if cluster.each else ""

        def account_of_group(group: str) -> GradientAccount:
            return accounts.setdefault(group, kept.all_of(tests, named(group)))

        def done(group: str, task: AccountTask) -> bool:
            return kept.account(task.where, named(group)) is not None

        for group, task, result in dealt(cluster, [AccountTask(test, trials) for test in tests], done=done):
            account_of_group(group).take(result)
            kept.add(task.where, result, named(group))
        for group in cluster.groups:
            account_of_group(group)
    finally:
        cluster.close()
    return accounts
