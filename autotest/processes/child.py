"""The life of a process that was forked for one task: it isolates itself, performs the task, and ends.

It dies with its parent, prints nothing on the terminal, and writes no core dump.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

_SIGNAL_ON_PARENTS_DEATH = 1  # PR_SET_PDEATHSIG of prctl(2)


class Surroundings(NamedTuple):
    """The state that a child takes over from the process that requested it."""

    environment: Mapping[str, str]
    folder: str
    #: `sys.path`.
    path: Sequence[str]
    #: The file for the output of the child and the frameworks; None discards it.
    log: Path | None


class ForkRequest(NamedTuple):
    """The request for which a child was forked; its function and arguments are still to be received."""

    connection: Connection
    #: The socket by which the child can request further processes from the server.
    server: socket.socket


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Let this process end by the signal `number` as soon as its parent, the process `parent`, ends in any way."""
    ctypes.CDLL(None).prctl(_SIGNAL_ON_PARENTS_DEATH, int(number), 0, 0, 0)
    if os.getppid() != parent:  # the parent ended before this was set up
        os._exit(0)


def quiet(log: Path | None) -> None:
    """Detach this process from the terminal: it reads nothing, and prints only to `log`."""
    faulthandler.disable()  # it was enabled for the parent process
    nothing = os.open(os.devnull, os.O_RDWR)
    output = nothing
    if log is not None:
        with contextlib.suppress(OSError):  # such as a full disk, which must not end the process
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for descriptor, source in ((0, nothing), (1, output), (2, output)):
        os.dup2(source, descriptor)
    for opened in {nothing, output}:
        os.close(opened)
    # The parent's stream objects may have unwritten text in their buffers, which only the parent must write.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - these live as long as the process
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115


def begin(descriptor: int, server: socket.socket, parent: int) -> ForkRequest:
    """Set up a child: apply the settings of every child, then those that its connection sends first."""
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A core dump of this much memory takes seconds to write.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    connection = Connection(descriptor)
    try:
        around: Surroundings = connection.recv()
    except (EOFError, OSError):
        os._exit(0)  # the process that requested it is gone
    os.environ.clear()
    os.environ.update(around.environment)
    with contextlib.suppress(OSError):
        os.chdir(around.folder)
    # The server may have added the folder of an adapter, which imports its framework from there only now.
    sys.path[:] = [*around.path, *(place for place in sys.path if place and place not in around.path)]
    quiet(around.log)
    return ForkRequest(connection, server)


def run_request(task: ForkRequest) -> None:
    """Perform the task and end this process, with status 0 if the task is done and 1 if it raised."""

    def work() -> None:
        function: Callable[..., object]
        arguments: tuple[Any, ...]
        with contextlib.suppress(EOFError, BrokenPipeError):  # the process that requested it is gone
            function, arguments = task.connection.recv()
            function(task.connection, task.server, *arguments)

    run_to_end(work)


def run_to_end(function: Callable[[], object]) -> NoReturn:
    """Call `function` and end this process, with status 0 if it returns, or with status 1 and a traceback if it raises.

    For a process that was forked by `os.fork`: the parent's cleanup code is not run.
    """
    status = 1
    try:
        function()
        status = 0
    except BaseException:  # noqa: BLE001 - the log is the only place to report it
        traceback.print_exc()
    finally:
        # After an error, frameworks may crash again in their shutdown code, so it is skipped.
        os._exit(status)


def end_like(status: int) -> NoReturn:
    """End this process as a child of it ended, given the child's exit code: with that code, or by its signal.

    A child that ended with 0 although it should have continued counts as failed.
    """
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(max(status, 1))
