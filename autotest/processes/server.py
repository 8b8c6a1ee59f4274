"""A process that has imported the frameworks and forks a child for every task that it receives.

A client is a socket. Each message on it brings two file descriptors: the child's end of a connection, on which the task
itself follows, and a pipe for the child's process id and exit status. The server never reads a task.

Limits, with torch 2.0.1 and OneFlow 0.9.0: a child takes two descriptors of the server while it lives, and nothing
afterwards (after 1,000 children that computed on both frameworks, the server still had 524 MB, 9 descriptors and one
thread). A child of `fork_from_here` has none of the frameworks' threads: it computes eagerly, and an `nn.Graph` would
wait there for ever. A crash of a framework at the exit of an interpreter is not found, because children end without
running exit code.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import selectors
import signal
import socket
import struct
from collections.abc import Callable, Sequence
from typing import NoReturn

from autotest.base.errors import AutotestError
from autotest.frameworks import Pair, chosen_pair
from autotest.processes import child

#: A process id, or an exit status as `os.waitstatus_to_exitcode` returns it.
NUMBER = struct.Struct("<q")
#: Sent instead of a process id if the system cannot start another process.
NO_PROCESS = 0


class ForkServer:
    """Server for the clients of one process; it runs until that process closes its end."""

    def __init__(self, owner: socket.socket) -> None:
        self._owner = owner
        #: The process ids of the living children that each client requested, by the client's socket.
        self._clients: dict[socket.socket, set[int]] = {owner: set()}
        self._pipes: dict[int, int] = {}
        self._wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def serve(self) -> child.ForkRequest:
        """Fork children on request. Returns in a child, with its task; never returns in the server itself."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal and is for the owner
        signal.signal(signal.SIGTERM, lambda number, frame: self._end())
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self._wakeup[1], warn_on_full_buffer=False)
        gc.freeze()  # the collector must not touch, and so copy, memory shared with children
        while True:
            ready = self._ready()
            self._reap()
            for client in ready:
                task = self._answer(client) if client in self._clients else None
                if task is not None:
                    return task

    def _ready(self) -> list[socket.socket]:
        """Wait for requests, or for the end of a child; return the clients with requests."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._wakeup[0], selectors.EVENT_READ)
            for client in self._clients:
                selector.register(client, selectors.EVENT_READ)
            ready = [key.fileobj for key, _ in selector.select()]
        return [one for one in ready if isinstance(one, socket.socket)]

    def _answer(self, client: socket.socket) -> child.ForkRequest | None:
        try:
            message, descriptors, _, _ = socket.recv_fds(client, 1, 2)
        except OSError:
            message, descriptors = b"", []
        if len(descriptors) == 2:
            return self._fork(client, *descriptors)
        if not message:
            self._drop_client(client)
        return None

    def _fork(self, client: socket.socket, connection: int, pipe: int) -> child.ForkRequest | None:
        own, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            pid = NO_PROCESS
        if pid == 0 and os.getpid() != server:
            return self._become_child(connection, pipe, own, theirs, server)
        os.close(connection)
        theirs.close()
        with contextlib.suppress(OSError):
            os.write(pipe, NUMBER.pack(pid))
        if pid == NO_PROCESS:
            os.close(pipe)
            own.close()
        else:
            _group(pid)
            self._pipes[pid] = pipe
            self._clients[client].add(pid)
            self._clients[own] = set()
        return None

    def _become_child(
        self, connection: int, pipe: int, own: socket.socket, theirs: socket.socket, server: int
    ) -> child.ForkRequest:
        """Close everything that belongs to the server. Runs in the child."""
        try:
            _group(0)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            for client in (own, *self._clients):
                client.close()
            for descriptor in (pipe, *self._wakeup, *self._pipes.values()):
                os.close(descriptor)
            return child.begin(connection, theirs, server)
        except BaseException:  # noqa: BLE001 - a child must not continue as the server
            os._exit(1)

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wakeup[0], 4096)
        while self._pipes:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None:
                return
            _kill_group(ended.si_pid)  # before it is waited for: afterwards another group may have its number
            pid, status = os.waitpid(ended.si_pid, 0)
            for children in self._clients.values():
                children.discard(pid)  # another client's child may get the same id
            pipe = self._pipes.pop(pid, None)
            if pipe is not None:
                with contextlib.suppress(OSError):
                    os.write(pipe, NUMBER.pack(os.waitstatus_to_exitcode(status)))
                os.close(pipe)

    def _drop_client(self, client: socket.socket) -> None:
        """Kill the children of a `client` that has closed its end; if it is the owner, end the server too."""
        for pid in self._clients.pop(client):
            _kill(pid)
        client.close()
        if client is self._owner:
            self._end()

    def _end(self) -> NoReturn:
        """Kill all children, with the processes that they have started, and end this process."""
        for pid in self._pipes:
            _kill(pid)
        os._exit(0)


def _leave_group(parent: int) -> None:
    """Give this server a process group of its own; end it by SIGTERM when the process `parent` ends, unless it is 0.

    SIGKILL to the group of the parent must not reach it, so that it can kill what its children have started.
    """
    _group(0)
    if parent:
        child.die_with_parent(parent, signal.SIGTERM)


def _group(pid: int) -> None:
    """Make the child `pid` (0: this process) the leader of a process group. A child and its server both do this.

    A test body may start processes that do not end, and it may send a signal to its process group.
    """
    with contextlib.suppress(OSError):  # it has ended
        os.setpgid(pid, pid)


def _kill(pid: int) -> None:
    """Kill the child `pid`, which was not waited for yet, and the processes that it has started."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
    _kill_group(pid)


def _kill_group(pid: int) -> None:
    """Kill the processes that the child `pid`, which was not waited for yet, has started."""
    with contextlib.suppress(OSError):  # there are none
        os.killpg(pid, signal.SIGKILL)


def fork_from_here(owner: socket.socket) -> None:
    """Serve from this process, which is a fork of one that has already used the frameworks. Never returns."""
    child.quiet(None)
    _leave_group(os.getppid())
    child.run_request(ForkServer(owner).serve())


def import_and_serve(owner: socket.socket, modules: Sequence[str], *, ahead: bool) -> None:
    """Import `modules` and, if `ahead`, as much of the frameworks as is safe before a fork; then serve.

    Never returns.
    """
    # The imports create hundreds of thousands of objects that stay alive. Collecting garbage meanwhile finds nothing,
    # and takes a seventh of the time to import both frameworks.
    gc.disable()
    for module in modules:
        importlib.import_module(module)
    task: list[child.ForkRequest] = []

    def serve() -> None:
        gc.freeze()
        gc.enable()
        task.append(ForkServer(owner).serve())
        gc.disable()  # this is a child now, which may have to import the rest of the frameworks

    # A child meets the same error in the choice or the import of the frameworks, and reports it.
    with contextlib.suppress(AutotestError):
        if ahead:
            _import_around(chosen_pair(), serve)
    if not task:
        serve()
    gc.freeze()
    gc.enable()
    child.run_request(task[0])


def _import_around(pair: Pair, fork: Callable[[], None]) -> None:
    pair.reference.import_around(lambda: pair.candidate.import_around(fork))


def main(descriptor: str, parent: str, ahead: str, *modules: str) -> None:
    """Serve the owner at the other end of `descriptor`, and end with the process `parent`, unless it is 0.

    `ahead` is "0" or "1".
    """
    _leave_group(int(parent))
    import_and_serve(socket.socket(fileno=int(descriptor)), modules, ahead=bool(int(ahead)))
