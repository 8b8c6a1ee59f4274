"""Requests processes from a process server, and reads their process ids and exit statuses.

A server is started for the first request, and again if it was killed. It is either a new interpreter that imports the
frameworks, or a fork of this process, which has imported them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import IO, TypeVar

from autotest.base.library_folder import LIBRARY
from autotest.frameworks import registry
from autotest.processes import server
from autotest.processes.child import Surroundings
from autotest.processes.server import NO_PROCESS, NUMBER

T = TypeVar("T")

#: Seconds that a server may need to import the frameworks, on a busy machine.
START_UP = 120.0
#: Seconds that a server has to end before it is killed. It needs milliseconds, unless it was stopped.
_LAST_SECONDS = 2.0


class ServerLost(OSError):
    """The process server ended, and with it all its children, whatever they were doing."""

    def __init__(self, turn: int = 0) -> None:
        super().__init__("the process server ended")
        #: Which server of its `Server` it was: 1 for the first that was started.
        self.turn = turn


class Process:
    """A process that runs one function, as seen by the process that requested it."""

    def __init__(self, connection: Connection, pipe: Connection, turn: int = 0) -> None:
        #: Its other end is the function's first argument. It ends (`EOFError`) with the process.
        self.connection = connection
        #: Readable when the process id or the exit status arrives. Its descriptor is closed when this object is garbage
        #: collected, as is that of the connection.
        self.pipe = pipe
        #: Whether its server has ended.
        self.lost = False
        self._turn = turn
        self._pid: int | None = None
        self._status: int | None = None

    def pid(self, seconds: float = START_UP) -> int:
        """Return its process id, after waiting for its start at most `seconds`.

        Raises `ServerLost`, or `OSError` if the process does not start.
        """
        if self._pid is None:
            self._pid = self._number(seconds)
            if self._pid is None:
                raise OSError(f"no process was started within {seconds:g} s")
        if self._pid == NO_PROCESS:
            raise OSError("the system cannot start another process")
        return self._pid

    def status(self, seconds: float = 0.0) -> int | None:
        """Return its exit status, negative for a signal; None if it has not ended within `seconds`.

        Raises `ServerLost` if the server has ended, so that the status cannot be known any more.
        """
        end = time.monotonic() + seconds
        if self._pid is None:
            self._pid = self._number(seconds)
        if self._pid is not None and self._status is None:
            self._status = self._number(max(0.0, end - time.monotonic()))
        return self._status

    def _number(self, seconds: float) -> int | None:
        if not wait([self.pipe], seconds):
            return None
        data = os.read(self.pipe.fileno(), NUMBER.size)
        if not data:
            self.lost = True
            raise ServerLost(self._turn)
        number: int = NUMBER.unpack(data)[0]
        return number

    def kill(self) -> None:
        """Kill the process; if it was not started yet, it ends when its connection is closed."""
        with contextlib.suppress(OSError):
            if self.status() is None and self._pid:
                os.kill(self._pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process unless it has ended, and close its connection and pipe."""
        self.kill()
        with contextlib.suppress(OSError):
            self.connection.close()
        self.pipe.close()


class Server:
    """The process server of this process; in a child of a server, a client of that same server.

    Several threads may use it. If it is lost, one of them starts it again.
    """

    def __init__(
        self,
        modules: Sequence[str] = (),
        *,
        frameworks: tuple[str, str] | None = None,
        fork: bool = False,
        ahead: bool = True,
        inherited: socket.socket | None = None,
    ) -> None:
        """Create the client. The server is started by the first request, or by `start`.

        Args:
            modules: modules that children need in addition to the frameworks; the server imports them once.
            frameworks: the registered names of the pair that children choose; this process's own pair if None.
            fork: make the server a fork of this process, whose frameworks must all be `forkable`.
            ahead: import the frameworks before children are forked. A child that has to import them itself needs
                seconds, and the frameworks do not know that it is a fork. In a fork, OneFlow runs calls in the calling
                thread, where an error raises an exception; in its own threads, the same error ends the process.
            inherited: the socket that a child of a server received for it.
        """
        self._modules, self._fork, self._ahead, self._inherited = tuple(modules), fork, ahead, inherited
        self._choice = {} if frameworks is None else registry.variables(frameworks)
        self._socket = inherited
        self._started: subprocess.Popen[bytes] | int | None = None
        self._errors: IO[bytes] | None = None
        #: How many servers were started so far. A thread that has lost one must not close the next one, which another
        #: thread has started and uses.
        self._turn = 0
        self._lock = threading.RLock()

    def start(self) -> None:
        """Start the server without waiting for it; if it was lost, start it again."""
        with self._lock:
            is_alive = self._socket is not None and self._started is not None and not _has_ended(self._started)
            if self._inherited is not None or is_alive:
                return
            self.close()
            own, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._turn += 1
            self._started = self._forked(own, theirs) if self._fork else self._run(theirs)
            theirs.close()
            self._socket = own

    def _run(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        # It dies with the thread that started it, and only the main thread lives as long as the process.
        parent = os.getpid() if threading.current_thread() is threading.main_thread() else 0
        self._errors = tempfile.TemporaryFile(prefix="autotest-")  # noqa: SIM115 - closed with the server
        return subprocess.Popen(
            [sys.executable, "-c", _RUN, str(theirs.fileno()), str(parent), str(int(self._ahead)), *self._modules],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._errors,
            stderr=self._errors,
            env={**os.environ, **self._variables()},
        )

    def _variables(self) -> dict[str, str]:
        """Return the environment variables of the server that this process may not have."""
        return {**self._choice, "PYTHONPATH": os.pathsep.join([str(LIBRARY), *(path or "." for path in sys.path)])}

    @staticmethod
    def _forked(own: socket.socket, theirs: socket.socket) -> int:
        with warnings.catch_warnings():
            # Python 3.12 and later warn about threads that a fork lacks. Frameworks that need their threads are not
            # `forkable`.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid:
            return pid
        try:
            own.close()
            server.fork_from_here(theirs)
        finally:
            os._exit(1)

    def process(self, function: Callable[..., object], *arguments: object, log: Path | None = None) -> Process:
        """Have `function(connection, server, *arguments)` called in a new child of the server.

        Args:
            function: a picklable function; its argument `server` is a socket for `Server(inherited=...)`.
            arguments: further picklable arguments.
            log: the file for the output of the child; None discards it.

        Raises:
            ServerLost: if the server ends before it receives the request, twice; once if the server is inherited.
            OSError: if the request cannot be sent.
        """
        try:
            return self._ask(function, arguments, log)
        except ServerLost as error:
            if self._inherited is not None:
                raise
            self._close_lost(error.turn)
        return self._ask(function, arguments, log)

    def _ask(self, function: Callable[..., object], arguments: tuple[object, ...], log: Path | None) -> Process:
        with self._lock:  # until the request is sent, no other thread starts the server again
            self.start()
            turn = self._turn
            try:
                process = self._requested()
            except (BrokenPipeError, ConnectionResetError) as error:
                raise ServerLost(turn) from error
        try:
            return self._told(process, function, arguments, log)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ServerLost(turn) from error

    def _requested(self) -> Process:
        """Return a new child, which waits to be told what to do."""
        assert self._socket is not None
        own, theirs = socket.socketpair()
        reading, writing = os.pipe()
        try:
            socket.send_fds(self._socket, [b"1"], [theirs.fileno(), writing])
        except OSError:
            own.close()
            os.close(reading)
            raise
        finally:
            theirs.close()
            os.close(writing)
        return Process(Connection(own.detach()), Connection(reading, writable=False), self._turn)

    def _told(
        self, process: Process, function: Callable[..., object], arguments: tuple[object, ...], log: Path | None
    ) -> Process:
        """Return `process` after it was told to call `function`. This may wait until the server has started."""
        around = Surroundings(
            {**os.environ, **self._choice}, str(Path.cwd()), list(sys.path), None if log is None else log.absolute()
        )
        process.connection.send(around)
        process.connection.send((function, arguments))
        return process

    def retried(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, which uses processes of this server; run it again if the server is lost."""
        try:
            return work()
        except ServerLost as error:
            self._close_lost(error.turn)
            return work()

    def _close_lost(self, turn: int) -> None:
        """Close the server of this turn, unless another thread has already started the next one."""
        with self._lock:
            if turn == self._turn:
                self.close()

    def last_words(self) -> str:
        """Return the last line that the server itself printed, for errors about a server that does not answer."""
        with self._lock:
            if self._errors is None:
                return ""
            self._errors.seek(0)
            lines = self._errors.read().decode(errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """Kill the server and all its children."""
        with self._lock:
            if self._socket is not None and self._inherited is None:
                self._socket.close()
                self._socket = None
            if self._started is not None:
                _end(self._started)
            self._started = None
            if self._errors is not None:
                self._errors.close()
                self._errors = None


def _end(started: subprocess.Popen[bytes] | int) -> None:
    """End a server. One that answers kills its children first, and the processes that these have started."""
    pid = started if isinstance(started, int) else started.pid
    patience = time.monotonic() + _LAST_SECONDS
    number = signal.SIGTERM
    while not _has_ended(started):
        with contextlib.suppress(OSError):
            os.kill(pid, number)
        time.sleep(0.002)
        if time.monotonic() > patience:
            number = signal.SIGKILL
    if not isinstance(started, int):
        started.wait()


def _has_ended(started: subprocess.Popen[bytes] | int) -> bool:
    """Return whether a server has ended; if it has, its process id is free."""
    if not isinstance(started, int):
        return started.poll() is not None
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(started, os.WNOHANG)[0] != 0
    return True


_RUN = "import sys; from autotest.processes.server import main; main(*sys.argv[1:])"
