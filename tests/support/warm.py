"""Servers and scripts in forks of one process that has imported torch, in place of a new interpreter for each.

Most of the time of a test that starts a process server, or verifies a script, is the import of torch in it. The tests
of `autotest.processes` show that a new interpreter does the same.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotest.processes import server as process_server
from autotest.processes.client import START_UP, Process, Server
from tests.support.scripts import run_path
from tests.support.stand_in import StandIn

if TYPE_CHECKING:
    import pytest


class WarmProcess:
    """A process that has imported torch. Whatever runs in its forks ends with it."""

    def __init__(self) -> None:
        self._server = Server(("torch", "autotest.decorator", __name__), ahead=False)
        self._server.start()

    @contextmanager
    def replacing(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Inside the block, every new process server and fresh interpreter of this process is a fork."""
        warm = self._server

        def fork(self: Server, theirs: socket.socket) -> _Fork:
            choice = {**self._choice, "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *filter(None, sys.path)])}
            process = warm.process(_serve, choice, self._modules, self._ahead)
            send_handle(process.connection, theirs.fileno(), process.pid())
            return _Fork(process)

        with monkeypatch.context() as patched:
            patched.setattr(Server, "_run", fork)
            patched.setattr(
                "autotest.diagnosis.verification.FreshInterpreter", lambda lines=(): WarmInterpreter(warm, lines)
            )
            yield

    def close(self) -> None:
        self._server.close()


class _Fork:
    """A process server in a fork, with the methods of `subprocess.Popen` that `Server` calls."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def poll(self) -> int | None:
        return self._process.status()

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> None:
        self._process.status(START_UP)
        self._process.close()


class WarmInterpreter:
    """Runs one script in a fork, as `FreshInterpreter` does in a new interpreter."""

    def __init__(self, warm: Server, lines: Sequence[str] = ()) -> None:
        self._warm, self._lines = warm, lines
        self._folder = tempfile.TemporaryDirectory(prefix="autotest-")

    def run(self, script: str, deadline: float) -> tuple[int | None, str]:
        """Return the exit status of `script` and its output; (None, "") if it did not end within `deadline` s."""
        path, log = (Path(self._folder.name) / name for name in ("repro.py", "output"))
        path.write_text(script, encoding="utf-8")
        process = self._warm.process(_run, str(path), log=log)
        status = process.status(deadline)
        process.close()
        return (None, "") if status is None else (status, log.read_text(encoding="utf-8", errors="replace"))

    def close(self) -> None:
        self._folder.cleanup()


def _serve(connection: Connection, server: socket.socket, choice: dict[str, str], modules: Any, ahead: bool) -> None:
    """Be a process server for the socket that the connection sends."""
    os.environ.update(choice)
    owner = socket.socket(fileno=recv_handle(connection))
    process_server.import_and_serve(owner, modules, ahead=ahead)


def _run(connection: Connection, server: socket.socket, path: str) -> None:
    """Run a script, and end with its exit status. Interpreters that it starts are forks, too."""
    interpreter = StandIn(Path(path).parent)
    arguments = interpreter.start() or [path]
    sys.argv[:], sys.path[0] = arguments, str(Path(path).parent)
    status = run_path(arguments[0])
    interpreter.close()
    os._exit(status)
