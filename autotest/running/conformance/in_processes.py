"""Checks an adapter in a process of its own: a check that kills it, or never ends, costs no other check."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Generator, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from autotest.base.errors import AutotestError
from autotest.base.temporary_folders import temporary_folder
from autotest.frameworks import framework
from autotest.processes.client import START_UP, Process, Server
from autotest.processes.endings import describe, last_words, timeout_death
from autotest.running.conformance.checking import Checked, check_names, conformance_from

#: Seconds that one check may take. Most take milliseconds; one that compiles takes some seconds on a busy machine.
DEADLINE = 60.0
#: Seconds to wait for the exit status of a process whose connection has ended.
_GONE = 10.0


def conformance_in_processes(name: str, deadline: float = DEADLINE) -> Generator[tuple[str, Checked], None, None]:
    """Check all requirements on the adapter `name`; yield the version of the framework with each result as it is known.

    A process checks one requirement after another. If it dies, the check that it was at is wrong, and a new process
    continues with the next one.

    Raises:
        UsageError: `name` is not an adapter, or the framework's tensors contain no numbers.
        AutotestError: the import of the framework fails.
    """
    framework(name)  # a wrong name needs no process
    names = check_names()
    done = 0
    # A child imports the framework by itself, with all its threads, as it is imported when it is used.
    with (
        contextlib.closing(Server((__name__,), ahead=False)) as server,
        temporary_folder("autotest-conformance-") as folder,
    ):
        while done < len(names):
            log = folder / f"{done}.log"
            process = server.process(_check, name, done, log=log)
            with contextlib.closing(process):
                version = _version(name, process, log)
                for checked in _results(process, deadline, names[done:]):
                    yield version, checked
                    done += 1
                if done < len(names):
                    yield version, Checked(names[done], "WRONG", _death(process, deadline, log))
                    done += 1


def _version(name: str, process: Process, log: Path) -> str:
    """Return what the process sends first, once it has imported the framework."""
    try:
        if process.connection.poll(START_UP):
            said: str | AutotestError = process.connection.recv()
            if isinstance(said, AutotestError):
                raise said
            return said
    except (EOFError, ConnectionResetError):
        pass
    raise AutotestError(f"the framework of {name!r} cannot be imported: {_death(process, START_UP, log)}")


def _results(process: Process, deadline: float, names: list[str]) -> Iterator[Checked]:
    """Yield the results of the checks `names` until the process dies, or needs more than `deadline` seconds for one."""
    with contextlib.suppress(EOFError, ConnectionResetError):
        for _ in names:
            if not process.connection.poll(deadline):
                return
            yield process.connection.recv()


def _death(process: Process, deadline: float, log: Path) -> str:
    """Return how the process ended, or that it does not answer, and the last that it printed."""
    status = process.status(_GONE if process.connection.poll(0) else 0.0)
    if status is None:
        return timeout_death(deadline).how
    printed = log.read_text("utf-8", "replace") if log.exists() else ""
    said = last_words(printed)
    return f"its process died ({describe(status)})" + (f": {said}" if said else "")


def _check(connection: Connection, server: socket.socket, name: str, start: int) -> None:
    """Send the framework's version, then the result of each check from number `start` on. Runs in the process."""
    try:
        adapter = framework(name)
        results = conformance_from(adapter, start)
        connection.send(adapter.version)
    except AutotestError as error:
        connection.send(error)
        return
    for checked in results:
        with contextlib.suppress(Exception):
            # What a check left to the framework's own threads must not kill the process in a later check.
            adapter.synchronize()
        connection.send(checked)
