"""Runs programs that may crash the candidate in a separate process."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Final

from autotest.base.settings import Settings
from autotest.frameworks import Pair, chosen_pair
from autotest.processes.client import START_UP, Process, Server
from autotest.processes.endings import ProcessDeath, TimeoutEstimate, describe
from autotest.program import Program
from autotest.replaying import graph_check
from autotest.replaying.agreement import agree
from autotest.replaying.replay import replay

#: `Ending.death` of a program that did not end in time, the same for every limit.
HANG: Final = ProcessDeath("hang", "no answer")
#: Seconds after which a program counts as hanging, and the same for a program that this process has just run.
_DEADLINE, _SOON = 10.0, 3.0


@dataclasses.dataclass(frozen=True, slots=True)
class Ending:
    """How a program ended: how the candidate died, None if it did not; and whether the reference accepted it."""

    death: ProcessDeath | None
    accepted: bool


@dataclasses.dataclass(frozen=True, slots=True)
class ProbeOptions:
    """How a program is run before it counts as survived."""

    #: Seconds after which it counts as hanging.
    deadline: float = _DEADLINE
    #: The number of runs.
    times: int = 1
    #: The settings for the candidate's graph mode, which runs if eager mode agrees under them; None for eager mode.
    graph: Settings | None = None
    #: Whether a process that survived a program runs the next one, too; False if earlier programs may cause a crash.
    lasting: bool = True


_USUAL = ProbeOptions()


class Probe:
    """A process that runs programs, and is replaced by a new one if a program crashes it."""

    def __init__(self, server: Server, options: ProbeOptions = _USUAL, timeouts: TimeoutEstimate | None = None) -> None:
        """Start the process.

        Args:
            server: starts the processes.
            options: how programs are run.
            timeouts: the time that programs take; a program that takes many times longer than these, or than on the
                reference, counts as hanging. None means to wait for the whole deadline.
        """
        #: The time that programs take. It may be set later, so that the first program has the whole deadline.
        self.timeouts = timeouts
        self._server, self._options = server, options
        self._process = self._started()
        self._ready = False
        #: A process that starts up while the current one works; used once a program has crashed.
        self._spare: Process | None = None

    def _started(self) -> Process:
        return self._server.process(_answer)

    def run(self, program: Program, deadline: float | None = None) -> Ending:
        """Run `program`, and return how it ends.

        Args:
            program: the program.
            deadline: seconds after which it counts as hanging; None for that of the options.

        Raises:
            OSError: no process can be started.
        """
        return self._server.retried(lambda: self._run(program, deadline or self._options.deadline))

    def _run(self, program: Program, deadline: float) -> Ending:
        if self._process.lost:
            self.close()
            self._process, self._ready = self._started(), False
        connection = self._process.connection
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.send((program, self._options.times, self._options.graph))
        if not self._ready:
            self._ready = _received(connection, START_UP) is True
            if not self._ready:
                raise OSError(f"a process for trying programs did not start ({self._server.last_words()})")
        begun = time.monotonic()
        accepted = _received(connection, deadline)
        reference = time.monotonic() - begun
        patience = (
            deadline if self.timeouts is None else self.timeouts.timeout(self._options.times * reference, deadline)
        )
        if accepted is not None and _received(connection, patience) is True:
            self._took(time.monotonic() - begun)
            if not self._options.lasting:
                self._replace()
            return Ending(None, accepted)
        status = self._process.status(0.0 if connection.poll(0) is False else 5.0)
        if status is not None:
            self._took(time.monotonic() - begun)
        death = HANG if status is None else ProcessDeath("crash", describe(status))
        self._replace()
        return Ending(death, accepted is True)

    def _took(self, seconds: float) -> None:
        if self.timeouts is not None:
            self.timeouts.record(seconds)

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


def _received(connection: Connection, seconds: float) -> bool | None:
    """Return the answer of the process; None if it has died, or does not answer within `seconds`."""
    try:
        return connection.recv() if connection.poll(seconds) else None
    except (EOFError, ConnectionResetError):
        return None


def _answer(connection: Connection, server: socket.socket) -> None:
    """Run programs in the process; for each, send whether the reference accepts it, and True if it was survived."""
    pair = chosen_pair()
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
    """Return whether the reference accepts `program`, and a function that runs it on the candidate."""
    return replay(program, pair.reference).error is None, lambda: replay(program, pair.candidate)


def _in_graph(program: Program, pair: Pair, settings: Settings) -> tuple[bool, Callable[[], object]]:
    """Return whether eager mode agrees on `program`, and a function that runs it in graph mode if so."""
    eager = agree(program, pair, settings)
    if eager.mismatches or eager.refused:
        return False, lambda: None
    return True, lambda: graph_check.alone(eager.record, settings)


@contextlib.contextmanager
def scout(pair: Pair, survived: Program) -> Iterator[Callable[[Program], bool]]:
    """Provide a function that returns whether the candidate survives a program, which runs in a separate process.

    If the candidate is not known to crash, or cannot be created in another process, the function always returns True.

    Args:
        pair: the reference and the candidate.
        survived: a program that this process has run; used to check that a fork can run programs.
    """
    if not pair.candidate.fragile or pair.names is None:
        yield lambda program: True
        return
    with contextlib.ExitStack() as stack:
        probe = _probe(pair, survived, stack)

        def survives(program: Program) -> bool:
            try:
                return probe.run(program).death is None
            except OSError:  # without a process for it, the program is not run in this process either
                return False

        yield survives


def _probe(pair: Pair, survived: Program, stack: contextlib.ExitStack) -> Probe:
    """Return a probe in a fork of this process, which has all imports, or in a new process if a fork does not work."""
    for fork in (True, False) if pair.forkable else (False,):
        server = stack.enter_context(contextlib.closing(Server(frameworks=pair.names, fork=fork)))
        pair.candidate.synchronize()
        probe = stack.enter_context(contextlib.closing(Probe(server)))
        # A fork lacks the threads of this process, such as those that a test body has used. A new process is waited for
        # here: it imports the frameworks, for which shrinking has no time.
        with contextlib.suppress(OSError):
            if probe.run(survived, _SOON).death is None:
                break
    return probe
