"""Makes the gradient account of a suite in workers: a test that kills its process is named, and costs no other test."""

from __future__ import annotations

import collections
import contextlib
import itertools
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

from autotest.base.errors import AutotestError
from autotest.base.temporary_folders import temporary_folder
from autotest.campaigns.gradient_account import account_of
from autotest.processes import breadcrumb
from autotest.processes.client import Process, Server, ServerLost
from autotest.processes.endings import describe
from autotest.results.gradient_account import GradientAccount
from autotest.results.tasks import Where
from autotest.sources import collection
from autotest.sources.collected import Collected

#: Modules that the worker processes need in addition to the frameworks.
PRELOADED = (__name__,)
#: Seconds that the trials of one test may take. The first test's process also imports the frameworks in this time.
DEADLINE = 180.0
#: How many process servers may end while a test runs before it is given up: the test may be what ends them.
_LOST_WITH_TEST = 3


class _RunningAccount(NamedTuple):
    """A test whose account is being made."""

    test: Where
    process: Process
    crumb_path: Path
    overdue: float


def account_in_workers(
    tests: Sequence[Collected | Where],
    trials: int,
    jobs: int,
    server: Server | None = None,
    kept: Callable[[Where, GradientAccount], None] = lambda *_: None,
) -> GradientAccount:
    """Run at most `trials` trials of each of `tests`, `jobs` at a time, each test in its own process.

    Args:
        tests: the tests, as collected or by name.
        trials: the largest number of trials for each test.
        jobs: how many processes run at a time.
        server: forks the processes; if None, a server is started and closed afterwards, and another one if it ends.
        kept: called with each test and its account.

    Returns:
        The account of all tests together.

    Raises:
        FrameworkMissing: if a framework cannot be imported.
        ServerLost: if the given `server` ends.
    """
    account = GradientAccount()
    waiting = list(reversed(tests))
    with (
        contextlib.closing(Server(PRELOADED)) if server is None else contextlib.nullcontext(server) as forking,
        temporary_folder("autotest-gradients-") as folder,
    ):
        workers = _Workers(forking, folder, trials, own_server=server is None)
        while waiting or workers.running:
            while waiting and len(workers.running) < jobs:
                workers.begin(waiting.pop())
            for test, of_test in workers.ended():
                if of_test is None:
                    waiting.append(test)
                else:
                    kept(test, of_test)
                    account.take(of_test)
    return account


class _Workers:
    """The processes in which accounts of tests are made."""

    def __init__(self, server: Server, folder: Path, trials: int, *, own_server: bool) -> None:
        self._server, self._folder, self._trials = server, folder, trials
        #: Whether another server is started if this one ends.
        self._own_server = own_server
        self._lost = collections.Counter[Where]()
        self._numbers = itertools.count()
        self.running: dict[Connection, _RunningAccount] = {}

    def begin(self, test: Collected | Where) -> None:
        crumb_path = self._folder / f"{next(self._numbers)}.crumb"
        where = test if isinstance(test, Where) else Where(test.file, test.id, 0)
        process = self._server.process(_account_of_test, where.file.absolute(), where.test, self._trials, crumb_path)
        self.running[process.connection] = _RunningAccount(where, process, crumb_path, time.monotonic() + DEADLINE)

    def ended(self) -> Iterator[tuple[Where, GradientAccount | None]]:
        """Wait for a test to end, or to be overdue; yield each with its account, None if it is to be run again."""
        patience = min(under_way.overdue for under_way in self.running.values()) - time.monotonic()
        ready: list[Any] = wait(list(self.running), max(0.0, patience))
        late = [one for one, its in self.running.items() if its.overdue < time.monotonic() and one not in ready]
        for connection in (*ready, *late):
            ended = self.running.pop(connection)
            try:
                with contextlib.closing(ended.process):
                    of_test = _account_of(ended, DEADLINE if connection in late else None)
            except ServerLost as error:
                if not self._own_server:
                    raise
                yield ended.test, self._without_server(ended.test, error)
            else:
                yield ended.test, of_test

    def _without_server(self, test: Where, error: ServerLost) -> GradientAccount | None:
        """Return the account of a test with which the server was lost too often; None to run the test again."""
        self._lost[test] += 1
        return None if self._lost[test] < _LOST_WITH_TEST else GradientAccount(died={test.test: str(error)})


def _account_of(kept: _RunningAccount, late: float | None) -> GradientAccount:
    """Return the account of a test that has ended.

    `late` is the number of seconds that the test was given if it has exceeded them, else None.
    """
    if late is not None:
        how = f"no answer in {late:g} s"
    else:
        try:
            outcome: GradientAccount | AutotestError = kept.process.connection.recv()
            if isinstance(outcome, AutotestError):
                raise outcome
            return outcome
        except (EOFError, ConnectionResetError):
            status = kept.process.status(10.0)
            how = f"its process died ({'unknown' if status is None else describe(status)})"
    position = breadcrumb.read(kept.crumb_path)
    if position is not None and position.index >= 0:
        how += f" in trial {position.index}, at {position.operator} ({position.stage})"
    return GradientAccount(died={kept.test.test: how})


def _account_of_test(
    connection: Connection, server: socket.socket, file: Path, test: str, trials: int, crumb_path: Path
) -> None:
    """Make the account of one test. Runs in the worker process."""
    crumb = breadcrumb.Breadcrumb(crumb_path)
    try:
        outcome: GradientAccount | AutotestError = account_of([collection.find(file, test)], trials, crumb)
    except AutotestError as error:
        outcome = error
    finally:
        crumb.close()
    connection.send(outcome)
