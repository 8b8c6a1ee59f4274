"""Runs the scripts of findings in fresh processes, and stores the findings where tests store theirs."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import runpy
import socket
import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Final, NamedTuple

from autotest.base.errors import StoreUnwritable
from autotest.base.temporary_folders import temporary_folder
from autotest.diagnosis.verification import judged
from autotest.processes.client import Process, Server, ServerLost
from autotest.results.sweep_findings import SweepFinding
from autotest.results.tasks import Where
from autotest.results.verification import State, Verification
from autotest.storage.keeping import keep

#: Seconds for one script. A script may import both frameworks again, to crash in a process of its own.
_LONGEST: Final = 120.0
#: Number of characters of a script's output that are kept.
_MOST: Final = 10_000


class RunningScript(NamedTuple):
    """A script that a process runs."""

    finding: SweepFinding
    process: Process
    #: When it was started.
    began: float

    def outcome(self) -> Verification | None:
        """Return the outcome of the script; None while it runs."""
        connection = self.process.connection
        try:
            ended = self.process.status() is not None
        except ServerLost:
            ended = True
        # Only now: a process may send its answer, and end, between two looks. All that one sent is there when it has
        # ended.
        if connection.poll():
            try:
                status, output = connection.recv()
            except (EOFError, OSError):
                return Verification(State.UNCLEAR, "the script ended its process")
            return judged(status, output, self.finding.finding)
        if ended:
            return Verification(State.UNCLEAR, "the script ended its process")
        late = time.monotonic() - self.began > _LONGEST
        return Verification(State.UNCLEAR, f"it took more than {_LONGEST:g} s") if late else None


def run_script(connection: Connection, server: socket.socket, path: str) -> None:
    """Run one script as the interpreter would, and send its exit status and its output."""
    sys.argv = [path]
    status: object = 0
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(path, run_name="__main__")
    except SystemExit as error:
        status = error.code
    connection.send((status if isinstance(status, int) else 0 if status is None else 2, printed.getvalue()[-_MOST:]))


def verify(findings: Sequence[SweepFinding], server: Server, jobs: int, seconds: float) -> None:
    """Record for each finding with a script whether a fresh process reproduced it, as far as time permits.

    The processes are forked from one that has imported the frameworks and has run nothing else.

    Args:
        findings: the findings; their `verified` is set.
        server: forks the processes.
        jobs: number of scripts that run at a time.
        seconds: time after which no more scripts are started.
    """
    waiting = [finding for finding in findings if finding.script][::-1]
    end = time.monotonic() + seconds
    with temporary_folder("autotest-scripts-") as folder:
        running: list[RunningScript] = []
        try:
            while running or (waiting and time.monotonic() < end):
                while waiting and len(running) < jobs and time.monotonic() < end:
                    running.append(_started(waiting.pop(), server, folder))
                wait([one.process.connection for one in running], timeout=0.5)
                _take_ended(running)
        finally:
            for one in running:
                one.process.close()


def _take_ended(running: list[RunningScript]) -> None:
    """Record the outcomes of the scripts that have ended, and remove these."""
    for one in [*running]:
        if (verified := one.outcome()) is not None:
            one.finding.verified = verified
            one.process.close()
            running.remove(one)


def _started(finding: SweepFinding, server: Server, folder: Path) -> RunningScript:
    path = folder / f"{finding.number}.py"
    path.write_text(finding.script, encoding="utf-8")
    return RunningScript(finding, server.process(run_script, str(path)), time.monotonic())


def kept(findings: Sequence[SweepFinding], directory: Path, seed: int) -> str:
    """Store the findings with a script below `directory`, where tests store their findings.

    Return why some findings could not be stored; empty if all were.
    """
    for finding in findings:
        if finding.finding is not None and finding.finding.script is not None:
            whole = dataclasses.replace(finding.finding, verified=finding.verified)
            try:
                found = keep(whole, Where(directory, whole.test, seed), directory)
            except StoreUnwritable as error:  # the system's folder for temporary files is not writable, either
                return str(error)
            finding.place, finding.report = found.place, found.report
    return ""
