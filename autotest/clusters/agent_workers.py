"""The workers with which an agent performs its tasks: those of a campaign, of a sweep, or of gradient accounts."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from autotest.campaigns import gradient_workers, workers
from autotest.campaigns.gradient_workers import account_in_workers
from autotest.campaigns.workers import Workers
from autotest.clusters.messages import AccountTask, ExplainTask, Package
from autotest.clusters.threaded import Threaded
from autotest.processes.client import Server
from autotest.results.gradient_account import GradientAccount
from autotest.results.sweep import Cell
from autotest.sweeping import engine
from autotest.sweeping.engine import SweepEngine
from autotest.sweeping.units import Unit


class AgentWorkers(Protocol):
    """Interface for starting tasks and waiting for their results."""

    @property
    def late(self) -> int:
        """Number of workers that seem to hang; as many further tasks can explore in their place."""

    def start(self, task: Any) -> None: ...

    def wait(self, seconds: float) -> Sequence[tuple[Any, Any]]: ...

    def close(self) -> None: ...


def opened(package: Package, directory: Path, ledger: Path | None) -> tuple[AgentWorkers, Server]:
    """Return the workers for the work of `package`, and the server of their processes. Raises `AutotestError`.

    `directory` is the folder for findings on this machine. `ledger` is the path on this machine of the ledger that
    applies to all tests, or None.
    """
    if package.work == "sweep":
        server = Server(engine.modules_to_preload(package.databases.own), frameworks=package.conditions.frameworks)
        return _sweeping(package, server), server
    if package.work == "gradients":
        server = Server(gradient_workers.PRELOADED, frameworks=package.conditions.frameworks)
        return _accounting(package.slots, server), server
    ahead = not package.conditions.own_import
    server = Server(workers.PRELOADED, frameworks=package.conditions.frameworks, ahead=ahead)
    pool = Workers(dataclasses.replace(package.conditions, directory=directory, ledger=ledger), package.slots, server)
    pool.prepare()
    return pool, server


def _sweeping(package: Package, server: Server) -> Threaded:
    open_engines = contextlib.ExitStack()
    conditions = package.conditions
    functions: list[Callable[[Unit | ExplainTask], object]] = []
    for _ in range(package.slots):
        one = SweepEngine(1, conditions.deadline, conditions.memory, package.databases, server=server)
        open_engines.enter_context(one)
        functions.append(_judging(one))
    return Threaded(functions, open_engines.close)


def _judging(one: SweepEngine) -> Callable[[Unit | ExplainTask], object]:
    def judge(task: Unit | ExplainTask) -> object:
        if isinstance(task, ExplainTask):
            one.diagnose_findings([task.finding], task.explain, task.verify)
            return task.finding
        parts: list[tuple[Cell, bool]] = []
        one.run([task], lambda _, cell, done: parts.append((cell, done)))
        return parts

    return judge


def _accounting(slots: int, server: Server) -> Threaded:
    def keep(task: AccountTask) -> GradientAccount:
        return account_in_workers([task.where], task.trials, 1, server=server)

    return Threaded([keep] * slots, server.close)
