"""Performs tasks on one machine of a cluster, in worker processes that may crash without ending the agent."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pickle
import platform
import shutil
import socket
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from autotest.base.errors import AutotestError
from autotest.base.temporary_folders import own_folder
from autotest.clusters import agent_workers
from autotest.clusters.agent_workers import AgentWorkers
from autotest.clusters.messages import (
    Facts,
    Package,
    Report,
    SentResult,
    SentTask,
    Shutdown,
    TaskBatch,
    digest_of_file,
    digest_of_library,
)
from autotest.clusters.packing import relative, with_file
from autotest.frameworks import chosen_pair
from autotest.processes.client import START_UP
from autotest.results.tasks import Death, FindingRecord
from autotest.storage.store import Store


class Agent:
    """The agent that an engine runs on a machine. It has a store of its own until it shuts down."""

    def __init__(self) -> None:
        self._folder = own_folder("autotest-agent-")
        self._root = Path.cwd()
        self._workers: AgentWorkers | None = None
        #: The numbers of the running tasks, by the task object's `id`.
        self._numbers: dict[int, int] = {}

    def answer(self, message: bytes) -> bytes:
        """Answer a message of the driver: a `Package` with `Facts`, a `TaskBatch` with a `Report`."""
        asked: Package | TaskBatch | Shutdown = pickle.loads(message)
        if isinstance(asked, Package):
            return pickle.dumps(self._set_up(asked))
        if isinstance(asked, TaskBatch):
            return pickle.dumps(self._run_tasks(asked))
        self._shut_down()
        return pickle.dumps(asked)

    def _set_up(self, package: Package) -> Facts:
        """Prepare everything, so that the first task has to import nothing but its test file."""
        if package.root:
            os.chdir(package.root)
        self._root = Path.cwd()
        ledger = self._apply_settings(package)
        differing = [name for name, digest in package.digests.items() if digest_of_file(self._root / name) != digest]
        library = digest_of_library()
        try:
            self._workers, server = agent_workers.opened(package, self._folder, ledger)
            with contextlib.closing(server.process(_send_group)) as process:
                if process.connection.poll(START_UP):
                    group, trouble = process.connection.recv()
                else:
                    group, trouble = "", f"it does not import the frameworks in {START_UP:g} s"
        except EOFError:
            return Facts("", library, differing, "a process that imports the frameworks dies there")
        except (AutotestError, OSError) as error:
            return Facts("", library, differing, str(error) or type(error).__name__)
        return Facts(group, library, differing, trouble)

    def _apply_settings(self, package: Package) -> Path | None:
        """Give worker processes the same settings as on the driver's machine.

        Returns the path of the driver's ledger on this machine, or None if there is none.
        """
        for name in [name for name in os.environ if name.startswith("AUTOTEST_") or name in package.unset]:
            del os.environ[name]
        os.environ.update(package.environment)
        project = self._folder / "pyproject.toml"
        project.write_text(package.project, encoding="utf-8")
        os.environ |= {"AUTOTEST_PROJECT": str(project), "AUTOTEST_DIR": str(self._folder)}
        sys.path[:0] = [str(self._root / name) for name in package.path]
        if not package.ledger:
            return None
        ledger = self._folder / "asked-for.toml"
        ledger.write_text(package.ledger, encoding="utf-8")
        os.environ["AUTOTEST_LEDGER"] = str(ledger)
        return ledger

    def _run_tasks(self, order: TaskBatch) -> Report:
        assert self._workers is not None
        results: list[SentResult] = []
        end = time.monotonic() + order.seconds
        try:
            for sent in order.tasks:
                self._begin(sent, self._workers)
            while self._numbers and not results:
                finished = self._workers.wait(max(0.0, end - time.monotonic()))
                results += [self._returned(task, result) for task, result in finished]
                if time.monotonic() >= end:
                    break
        except AutotestError as error:
            return Report(results, str(error))
        return Report(results, late=self._workers.late)

    def _begin(self, sent: SentTask, workers: AgentWorkers) -> None:
        task = with_file(sent.task, lambda file: self._root / file)
        if sent.files:
            Store(self._folder).put(task.identity.key, sent.files)  # type: ignore[union-attr]
        self._numbers[id(task)] = sent.number
        workers.start(task)

    def _returned(self, task: Any, result: Any) -> SentResult:
        number = self._numbers.pop(id(task))
        if isinstance(result, Death):
            result = with_file(result, lambda file: relative(file, self._root))
        if not isinstance(result, FindingRecord):
            return SentResult(number, result, {})
        place = self._root / result.place
        # They stay there: another task may have come to the same finding, and replaced the files, before they are read.
        files = Store(place.parents[1]).files(place.name)
        return SentResult(number, dataclasses.replace(result, place=str(place)), files)

    def _shut_down(self) -> None:
        if self._workers is not None:
            self._workers.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _send_group(connection: Connection, server: socket.socket) -> None:
    """Send the names and versions of the frameworks, or why they cannot be used. Runs in a process of their own."""
    try:
        pair = chosen_pair()
        sides = " / ".join(f"{side.name} {side.version}" for side in pair.frameworks)
        devices = " and ".join(pair.devices)
    except AutotestError as error:
        connection.send(("", str(error)))
        return
    python = ".".join(platform.python_version_tuple()[:2])
    connection.send((f"{sides} on {devices}, NumPy {np.__version__}, Python {python}", ""))
