"""Runs the trials of a test that is known to kill in a fork of the worker, which is cheaper to lose than the worker.

A fork lacks threads that its parent has. What it says is therefore believed only where the ledger expects that, or
where nothing was found; the rest is left to the worker itself.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import socket
from multiprocessing.connection import Connection
from pathlib import Path

from autotest.base.errors import AutotestError
from autotest.campaigns.exploring import perform
from autotest.campaigns.worker_trails import death_told_by, forget, trail_at
from autotest.frameworks import Pair, registry
from autotest.processes.client import Server
from autotest.processes.endings import death_by, killed_for_memory
from autotest.results.ledger import Ledger
from autotest.results.tasks import EVERY_CALL, Conditions, Death, Explore, Explored, Task
from autotest.sources import collection
from autotest.trials.context import ledger_of

#: Seconds beyond those of its trials after which a fork counts as one that waits for threads that it lacks.
PATIENCE = 3.0


def in_fork(task: Task, conditions: Conditions, crumb: Path) -> Explored | Death | None:
    """What `task` comes to in a fork of this process, which writes its trail beside `crumb`; None for all that is
    not to be asked of a fork, or not to be believed of one.
    """
    if not isinstance(task, Explore):
        return None
    pair = registry.pair(*conditions.frameworks)
    known = _ledger(task.where.file, conditions.frameworks, conditions.ledger)
    if not known.expects_death(task.where.test, error_parity=conditions.check_errors) or not _forkable(task, pair):
        return None
    result = _asked(task, conditions, pair, crumb)
    return result if result is not None and _expected(result, task, known) else None


@functools.lru_cache(maxsize=256)
def _ledger(file: Path, frameworks: tuple[str, str], common: Path | None) -> Ledger:
    """Read once a worker, as tests read theirs once a process."""
    return ledger_of(file, registry.pair(*frameworks), common)


def _forkable(task: Explore, pair: Pair) -> bool:
    if not all(side.forkable for side in (pair.reference, pair.candidate)):
        return False
    with contextlib.suppress(AutotestError):  # what is wrong with the test, the worker itself will tell
        settings = collection.find(task.where.file, task.where.test).settings
        return not pair.checks_graph(settings.check_graph)
    return False


def _expected(result: Explored | Death, task: Explore, known: Ledger) -> bool:
    if isinstance(result, Explored):
        return not result.suspects and not result.broken
    return result.index is not None and known.expects(task.where.test, result.mismatch, result.operator) is not None


def _asked(task: Explore, conditions: Conditions, pair: Pair, crumb: Path) -> Explored | Death | None:
    trail, log = crumb.with_suffix(".fork"), crumb.with_suffix(".fork.log")
    pair.candidate.synchronize()
    killed_before = killed_for_memory()
    with contextlib.closing(Server(frameworks=conditions.frameworks, fork=True)) as forks:
        try:
            with contextlib.closing(forks.process(_explore, task, conditions, trail, log=log)) as process:
                if not process.connection.poll(task.seconds + PATIENCE):
                    return None
                with contextlib.suppress(EOFError, ConnectionResetError):
                    result: Explored = process.connection.recv()
                    return result
                status = process.status(PATIENCE)
                return death_told_by(trail, log, death_by(status, killed_before)) if status else None
        except OSError:  # there is no room for another process
            return None
        finally:
            forget(trail, log)


def _explore(connection: Connection, server: socket.socket, task: Explore, conditions: Conditions, place: Path) -> None:
    """Carry out `task` in the fork, and send what it comes to."""
    # So that a death sets aside the arguments that matter, and not the operator.
    task = dataclasses.replace(task, watched=frozenset((EVERY_CALL,)))
    trail = trail_at(place)
    with contextlib.closing(Server(inherited=server)) as processes:
        connection.send(perform(task, conditions, trail, processes))
    if trail is not None:
        trail.close()


__all__ = ["PATIENCE", "in_fork"]
