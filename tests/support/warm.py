"""Servers, scripts and commands in forks of one process that has imported torch, in place of new interpreters.

Most of the time of a test that starts a process server, or verifies a script, is the import of torch in it. That new
interpreters do the same is shown by the tests of `autotest.processes` and of command lines.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import runpy
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotest.diagnosis import verification
from autotest.processes import server as process_server
from autotest.processes.client import START_UP, Process, Server
from tests.support.ending import status_of
from tests.support.stand_in import StandIn, starts_interpreters
from tests.support.warm_peer import replace_interpreters

if TYPE_CHECKING:
    import pytest


class WarmProcess:
    """A process that has imported torch. Whatever runs in its forks ends with it."""

    def __init__(self) -> None:
        # torch's own modules are those that `TorchFramework.import_around` imports.
        modules = ("torch", "torch.fx.experimental.symbolic_shapes", "autotest.decorator", __name__)
        self._server = Server(modules, ahead=False)
        self._server.start()

    @contextmanager
    def replacing(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Inside the block, every new process server and fresh interpreter of this process is a fork."""
        with monkeypatch.context() as patched:
            _replace(self._server, patched.setattr)
            yield

    @contextmanager
    def replacing_interpreters(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        """Inside the block, this interpreter is a fork where it would be started for a candidate in another process."""
        with monkeypatch.context() as patched:
            replace_interpreters(self._server, patched.setattr)
            yield

    def run(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path) -> int:
        """Run ``python -m`` with `arguments` in `folder`, and return its exit status. Its output is appended to `log`.

        The servers and interpreters that it starts are forks, too, and so are the workers of pytest-xdist.
        """
        with contextlib.closing(self.started(arguments, folder, environment, log)) as process:
            status = process.status(600.0)
        if status is None:
            raise TimeoutError(f"{' '.join(arguments)} did not end")
        return status

    def started(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path) -> Process:
        """Do the same as `run`, without waiting for the end; return the process."""
        return self._server.process(_run_module, tuple(arguments), str(folder), dict(environment), log=log)

    def result(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> pytest.RunResult:
        """Do the same as `run`, and return the exit status and the lines of output, of both kinds in one."""
        from _pytest.pytester import RunResult

        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="autotest-") as kept:
            log = Path(kept) / "output"
            status = self.run(arguments, folder, environment, log)
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        return RunResult(status, lines, [], time.monotonic() - began)

    def close(self) -> None:
        self._server.close()


def _replace(warm: Server, replace: Callable[[Any, str, Any], None]) -> None:
    """Let all servers and interpreters that this process starts be forks of the `warm` one."""

    def fork(self: Server, theirs: socket.socket) -> _Fork:
        process = warm.process(_serve, self._variables(), self._modules, self._ahead)
        send_handle(process.connection, theirs.fileno(), process.pid())
        return _Fork(process)

    replace(Server, "_run", fork)
    replace(verification, "prepared_interpreter", lambda ahead=(), lines=(): WarmInterpreter(warm))


class _Fork:
    """A process server in a fork, with the methods of `subprocess.Popen` that `Server` calls."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid()

    def poll(self) -> int | None:
        return self._process.status()

    def wait(self) -> None:
        self._process.status(START_UP)
        self._process.close()


class WarmInterpreter:
    """Runs one script in a fork, as `FreshInterpreter` does in a new interpreter."""

    def __init__(self, warm: Server) -> None:
        self._warm = warm
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


def _serve(
    connection: Connection, server: socket.socket, variables: dict[str, str], modules: Sequence[str], ahead: bool
) -> None:
    """Be a process server for the socket that the connection sends."""
    _replace(Server(inherited=server), setattr)
    os.environ.update(variables)
    owner = socket.socket(fileno=recv_handle(connection))
    process_server.import_and_serve(owner, modules, ahead=ahead)


def _run_module(
    connection: Connection, server: socket.socket, arguments: Sequence[str], folder: str, environment: dict[str, str]
) -> None:
    """Run a module as ``python -m`` does, and end with its exit status."""
    _replace(Server(inherited=server), setattr)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the server ignores it
    os.chdir(folder)
    os.environ.update(environment)
    sys.path.insert(0, folder)
    with tempfile.TemporaryDirectory(prefix="autotest-") as kept:
        worker = StandIn(Path(kept))
        # pytest starts interpreters for pytest-xdist only. They run a source: `-u -c SOURCE`.
        if "-n" in arguments and (options := worker.start()):
            sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
            program = functools.partial(exec, options[-1], {"__name__": "__main__"})
        else:
            sys.argv[:] = arguments
            program = functools.partial(runpy.run_module, arguments[0], run_name="__main__", alter_sys=True)
        status = status_of(program)
        worker.close()
    threading._shutdown()
    atexit._run_exitfuncs()
    os._exit(status)


def _run(connection: Connection, server: socket.socket, path: str) -> None:
    """Run a script, and end with its exit status. Interpreters that it starts are forks, too."""
    interpreter = StandIn(Path(path).parent)
    arguments = (starts_interpreters(Path(path)) and interpreter.start()) or [path]
    sys.argv[:], sys.path[0] = arguments, str(Path(path).parent)
    status = status_of(lambda: runpy.run_path(arguments[0], run_name="__main__"))
    interpreter.close()
    os._exit(status)
