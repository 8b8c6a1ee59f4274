"""Forks of a process with torch, in place of the interpreters that serve a candidate.

Most of the time of a test that starts such an interpreter is the import of torch in it. That a new interpreter answers
in the same way is shown by the tests that start one.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from socket import socket
from types import SimpleNamespace
from typing import IO, Any

from autotest.frameworks.remote import peer
from autotest.processes.client import Process, Server, ServerLost
from tests.support.ending import status_of

#: Seconds after which a fork that was killed, or whose pipe was closed, has ended on any machine.
_LONG = 600.0


def replace_interpreters(warm: Server, replace: Callable[[Any, str, Any], None]) -> None:
    """Let `Peer` fork `warm` where it would start this interpreter."""

    def started(command: Sequence[str], **options: Any) -> Any:
        if command[:-1] != [sys.executable, "-c"]:
            return subprocess.Popen(command, **options)
        return _Fork(warm, command[-1], options["stdout"], options["stderr"], options["pass_fds"])

    names = {name: getattr(subprocess, name) for name in ("PIPE", "TimeoutExpired")}
    replace(peer, "subprocess", SimpleNamespace(Popen=started, **names))


class _Fork:
    """An interpreter that runs a source, with the parts of `subprocess.Popen` that `Peer` uses."""

    def __init__(self, warm: Server, source: str, stdout: IO[bytes], stderr: IO[bytes], passed: Sequence[int]) -> None:
        self._process: Process = warm.process(_run, source, tuple(passed))
        self.pid = self._process.pid()
        reading, writing = os.pipe()
        self.stdin = os.fdopen(writing, "wb")
        for descriptor in (reading, stdout.fileno(), stderr.fileno(), *passed):
            send_handle(self._process.connection, descriptor, self.pid)
        os.close(reading)
        self._process.connection.recv()  # from now on, its process group can be killed
        self._status: int | None = None

    def poll(self) -> int | None:
        return self._ended(0.0)

    def wait(self, timeout: float = _LONG) -> int:
        status = self._ended(timeout)
        if status is None:
            raise subprocess.TimeoutExpired("a fork that serves a candidate", timeout)
        return status

    def _ended(self, seconds: float) -> int | None:
        if self._status is None:
            try:
                self._status = self._process.status(seconds)
            except ServerLost:  # its children are killed with it
                self._status = -signal.SIGKILL
            if self._status is not None:
                self._process.close()
        return self._status


def _run(connection: Connection, server: socket, source: str, passed: Sequence[int]) -> None:
    """Run the source with the descriptors that the connection sends, under the numbers that it has for them."""
    numbers = (0, 1, 2, *passed)
    received = [recv_handle(connection) for _ in numbers]
    above = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, max(numbers) + 1) for descriptor in received]
    for descriptor in received:
        os.close(descriptor)
    connection.send("ready")
    connection.close()
    server.close()
    for descriptor, number in zip(above, numbers, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os._exit(status_of(lambda: exec(source, {"__name__": "__main__"})))  # noqa: S102 - as the interpreter does
