"""The life of a process that was forked for one task: it keeps out of the way of others, works, and ends.

It dies with the process that it was forked from, says nothing on the terminal, and writes no core dump.
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
from typing import Any, NamedTuple

_SIGNAL_ON_PARENTS_DEATH = 1  # PR_SET_PDEATHSIG of prctl(2)


class Surroundings(NamedTuple):
    """What a child has in common with the process that asked for it."""

    environment: Mapping[str, str]
    folder: str
    #: `sys.path`.
    path: Sequence[str]
    #: Where what it and the frameworks print goes; None for nowhere.
    log: Path | None


class ForkRequest(NamedTuple):
    """What a child was forked for, which still has to be received."""

    connection: Connection
    #: By which it can ask the server for further processes.
    server: socket.socket


def die_with_parent(parent: int) -> None:
    """End this process as soon as the process `parent`, which started it, ends by whatever means."""
    ctypes.CDLL(None).prctl(_SIGNAL_ON_PARENTS_DEATH, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it has ended before this was arranged
        os._exit(0)


def quiet(log: Path | None) -> None:
    """Let this process read nothing, and print to `log` at most."""
    faulthandler.disable()  # whoever asked for it meant its own process
    nothing = os.open(os.devnull, os.O_RDWR)
    told = nothing
    if log is not None:
        with contextlib.suppress(OSError):  # such as a full disk: last words are not worth a life
            told = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for descriptor, source in ((0, nothing), (1, told), (2, told)):
        os.dup2(source, descriptor)
    for opened in {nothing, told}:
        os.close(opened)
    # The parent's own objects may hold text that was not written yet, and is the parent's.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - these live as long as the process
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115


def begin(descriptor: int, server: socket.socket, parent: int) -> ForkRequest:
    """Arrange for what holds in every child, and take on the surroundings that its connection brings first."""
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A core dump of so much memory takes seconds to write.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    connection = Connection(descriptor)
    try:
        around: Surroundings = connection.recv()
    except (EOFError, OSError):
        os._exit(0)  # who asked for it is there no more
    os.environ.clear()
    os.environ.update(around.environment)
    with contextlib.suppress(OSError):
        os.chdir(around.folder)
    sys.path[:] = around.path
    quiet(around.log)
    return ForkRequest(connection, server)


def perform(task: ForkRequest) -> None:
    """Carry out the task, and end this process: 0 when it is done, 1 when it raised."""
    status = 1
    try:
        function: Callable[..., object]
        arguments: tuple[Any, ...]
        function, arguments = task.connection.recv()
        function(task.connection, task.server, *arguments)
        status = 0
    except (EOFError, BrokenPipeError):
        status = 0  # who asked for it is there no more
    except BaseException:  # noqa: BLE001 - the log is the only place that can be told
        traceback.print_exc()
    finally:
        # Frameworks that were in trouble die once more while they are taken down.
        os._exit(status)
