"""Tries programs on a candidate that may die of them, in a process that it may cost."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection

from autotest.base.settings import Settings
from autotest.diagnosis.agreement import agree
from autotest.frameworks import Pair, chosen
from autotest.processes.client import START_UP, Process, Server
from autotest.processes.endings import Pace, describe
from autotest.program import Program
from autotest.replaying import graph_check
from autotest.replaying.replay import replay

#: The death of a program that gave no answer.
HANGS = "hangs"
#: Seconds after which a program counts as hanging; and one that this process has just run.
_DEADLINE, _SOON = 10.0, 3.0


@dataclasses.dataclass(frozen=True, slots=True)
class Ending:
    """What became of a program: how the candidate died (``""`` if it did not), and whether the reference ran it."""

    death: str
    accepted: bool


@dataclasses.dataclass(frozen=True, slots=True)
class ProbeOptions:
    """How a program is run before it counts as surviving."""

    #: Seconds after which it counts as hanging.
    deadline: float = _DEADLINE
    #: How often it is run.
    times: int = 1
    #: With these settings, in the candidate's graph mode, after eager mode has agreed under them.
    graph: Settings | None = None
    #: Whether a process that survives one program is given the next one; not where it dies of what an earlier one left.
    lasting: bool = True


_USUAL = ProbeOptions()


class Probe:
    """A process that runs programs until one kills it, and is then started anew."""

    def __init__(self, server: Server, options: ProbeOptions = _USUAL, pace: Pace | None = None) -> None:
        """With a `pace`, many times what the reference takes, or what took another program, says that one hangs."""
        #: May be set later: a first program then has the whole deadline.
        self.pace = pace
        self._server, self._options = server, options
        self._process = self._started()
        self._ready = False
        #: Starts while another one works, once it is known that there are deaths.
        self._spare: Process | None = None

    def _started(self) -> Process:
        return self._server.process(_answer)

    def run(self, program: Program, deadline: float | None = None) -> Ending:
        """How `program` ends; raises `OSError` where there is no process to run it in."""
        return self._server.tried(lambda: self._run(program, deadline or self._options.deadline))

    def _run(self, program: Program, deadline: float) -> Ending:
        if self._process.lost:
            self.close()
            self._process, self._ready = self._started(), False
        connection = self._process.connection
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.send((program, self._options.times, self._options.graph))
        if not self._ready:
            self._ready = _said(connection, START_UP) is True
            if not self._ready:
                raise OSError(f"a process to try programs in did not start ({self._server.last_words()})")
        begun = time.monotonic()
        accepted = _said(connection, deadline)
        reference = time.monotonic() - begun
        patience = deadline if self.pace is None else self.pace.patience(self._options.times * reference, deadline)
        if accepted is not None and _said(connection, patience) is True:
            self._took(time.monotonic() - begun)
            if not self._options.lasting:
                self._replace()
            return Ending("", accepted)
        status = self._process.status(0.0 if connection.poll(0) is False else 5.0)
        if status is not None:
            self._took(time.monotonic() - begun)
        death = HANGS if status is None else describe(status)
        self._replace()
        return Ending(death, accepted is True)

    def _took(self, seconds: float) -> None:
        if self.pace is not None:
            self.pace.took(seconds)

    def _replace(self) -> None:
        self._process.close()
        self._process, self._ready = self._spare or self._started(), False
        self._spare = self._started()

    def close(self) -> None:
        """End the process."""
        self._process.close()
        if self._spare is not None:
            self._spare.close()
            self._spare = None


def _said(connection: Connection, seconds: float) -> bool | None:
    """What the process answers; None when it is dead, or takes too long."""
    try:
        return connection.recv() if connection.poll(seconds) else None
    except (EOFError, ConnectionResetError):
        return None


def _answer(connection: Connection, server: socket.socket) -> None:
    """In the process: say for each program whether the reference accepts it, then that it was survived."""
    pair = chosen()
    pair.load()
    with pair.around_trials():
        connection.send(True)
        while True:
            program, times, graph = connection.recv()
            accepted, once = _eager(program, pair) if graph is None else _in_graph(program, pair, graph)
            connection.send(accepted)
            for _ in range(times):
                with contextlib.suppress(Exception):
                    once()
                    pair.candidate.synchronize()
            connection.send(True)


def _eager(program: Program, pair: Pair) -> tuple[bool, Callable[[], object]]:
    """Whether the reference accepts `program`, and what runs it on the candidate."""
    return replay(program, pair.reference).error is None, lambda: replay(program, pair.candidate)


def _in_graph(program: Program, pair: Pair, settings: Settings) -> tuple[bool, Callable[[], object]]:
    """Whether eager mode agrees on `program`, and what runs it in the candidate's graph mode, if it does."""
    eager = agree(program, pair, settings)
    if eager.mismatches or eager.refused:
        return False, lambda: None
    return True, lambda: graph_check.alone(eager.record, settings)


@contextlib.contextmanager
def scout(pair: Pair, survived: Program) -> Iterator[Callable[[Program], bool]]:
    """A function that tells whether the candidate survives a program, asked in a process of its own.

    A framework that is not known to die is not asked, nor one that no other process can make: their programs run here
    at once. `survived` is a program that this process has run.
    """
    if not pair.candidate.fragile or pair.names is None:
        yield lambda program: True
        return
    with contextlib.ExitStack() as stack:
        probe = _probe(pair, survived, stack)

        def survives(program: Program) -> bool:
            try:
                return not probe.run(program).death
            except OSError:  # no process to try it in: then it is not tried here either
                return False

        yield survives


def _probe(pair: Pair, survived: Program, stack: contextlib.ExitStack) -> Probe:
    """A fork of this process, which has everything already; or of another, where that does not get on."""
    for fork in (True, False) if all(side.forkable for side in (pair.reference, pair.candidate)) else (False,):
        server = stack.enter_context(contextlib.closing(Server(frameworks=pair.names, fork=fork)))
        pair.candidate.synchronize()
        probe = stack.enter_context(contextlib.closing(Probe(server)))
        # A child may lack what this process has got since, such as threads that a test body has used.
        with contextlib.suppress(OSError):
            if not fork or not probe.run(survived, _SOON).death:
                break
    return probe


__all__ = ["HANGS", "Ending", "Probe", "ProbeOptions", "scout"]
