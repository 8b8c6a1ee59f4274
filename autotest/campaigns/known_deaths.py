"""Runs the trials of a test that is known to kill its process in a fork of the worker, which is cheaper to lose.

A fork lacks the threads of its parent. Its result is therefore used only if the ledger expects it or if it contains no
finding; otherwise the worker runs the trials itself.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import socket
from multiprocessing.connection import Connection
from pathlib import Path

from autotest.base.errors import AutotestError
from autotest.campaigns.exploring import run_task
from autotest.campaigns.worker_breadcrumbs import breadcrumb_at, forget, read_death
from autotest.frameworks import Pair, registry
from autotest.processes.client import Server
from autotest.processes.endings import death_from_status, killed_for_memory
from autotest.results.ledger import Ledger
from autotest.results.tasks import EVERY_CALL, Conditions, Death, Explore, Explored, Task
from autotest.sources import collection
from autotest.trials.context import ledger_of

#: Seconds, added to those of the trials, after which the fork is given up: it may wait for threads that it lacks.
FORK_GRACE_SECONDS = 3.0


def run_in_fork(task: Task, conditions: Conditions, crumb_path: Path) -> Explored | Death | None:
    """Run `task` in a fork of this process and return its result.

    The fork writes its breadcrumb file beside `crumb_path`. Returns None if the task does not suit a fork, or if the
    result of a fork cannot be trusted; the caller then runs the task itself.
    """
    if not isinstance(task, Explore):
        return None
    pair = registry.pair(*conditions.frameworks)
    known = _ledger(task.where.file, conditions.frameworks, conditions.ledger)
    if not known.expects_death(task.where.test, error_parity=conditions.check_errors) or not _forkable(task, pair):
        return None
    result = _result_of_fork(task, conditions, pair, crumb_path)
    return result if result is not None and _expected(result, task, known) else None


@functools.lru_cache(maxsize=256)
def _ledger(file: Path, frameworks: tuple[str, str], common: Path | None) -> Ledger:
    """Return the ledger of a test file; cached, because each worker reads a ledger once, as a test process does."""
    return ledger_of(file, registry.pair(*frameworks), common)


def _forkable(task: Explore, pair: Pair) -> bool:
    if not pair.forkable:
        return False
    with contextlib.suppress(AutotestError):  # the worker itself reports errors of the test
        settings = collection.find(task.where.file, task.where.test).settings
        return not pair.checks_graph(settings.check_graph)
    return False


def _expected(result: Explored | Death, task: Explore, known: Ledger) -> bool:
    if isinstance(result, Explored):
        return not result.suspects and not result.broken
    return result.index is not None and known.expects(task.where.test, result.mismatch, result.operator) is not None


def _result_of_fork(task: Explore, conditions: Conditions, pair: Pair, crumb_path: Path) -> Explored | Death | None:
    fork_path, log = crumb_path.with_suffix(".fork"), crumb_path.with_suffix(".fork.log")
    pair.candidate.synchronize()
    killed_before = killed_for_memory()
    with contextlib.closing(Server(frameworks=conditions.frameworks, fork=True)) as forks:
        try:
            with contextlib.closing(forks.process(_explore, task, conditions, fork_path, log=log)) as process:
                if not process.connection.poll(task.seconds + FORK_GRACE_SECONDS):
                    return None
                with contextlib.suppress(EOFError, ConnectionResetError):
                    result: Explored = process.connection.recv()
                    return result
                status = process.status(FORK_GRACE_SECONDS)
                return read_death(fork_path, log, death_from_status(status, killed_before)) if status else None
        except OSError:  # the system cannot start another process
            return None
        finally:
            forget(fork_path, log)


def _explore(connection: Connection, server: socket.socket, task: Explore, conditions: Conditions, place: Path) -> None:
    """Run `task` in the fork, and send its result."""
    # Every call is watched, so that a death sets aside a call with its arguments and not the whole operator.
    task = dataclasses.replace(task, watched=frozenset((EVERY_CALL,)))
    crumb = breadcrumb_at(place)
    with contextlib.closing(Server(inherited=server)) as processes:
        connection.send(run_task(task, conditions, crumb, processes))
    if crumb is not None:
        crumb.close()
