"""What the tests of the process server have its children do."""

from __future__ import annotations

import gc
import os
import socket
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

from autotest.diagnosis.verification import verify
from autotest.processes.client import Server


def tell(connection: Connection, server: socket.socket, value: object) -> None:
    """Answer with `value` and what this child knows of its surroundings."""
    known = {
        "pid": os.getpid(),
        "parent": os.getppid(),
        "folder": str(Path.cwd()),
        "told": os.environ.get("TESTS_TOLD"),
    }
    connection.send((value, known, "torch" in sys.modules))


def garbage(connection: Connection, server: socket.socket) -> None:
    """Whether this child looks for garbage, and among how many objects it never does."""
    connection.send((gc.isenabled(), gc.get_freeze_count()))


def command(connection: Connection, server: socket.socket, *arguments: str) -> None:
    """Run a command of this library."""
    from autotest.cli import main

    connection.send(main(list(arguments)))


def abort(connection: Connection, server: socket.socket) -> None:
    """Die of a signal, with last words."""
    os.write(1, b"Check failed: planted")
    os.abort()


def fail(connection: Connection, server: socket.socket) -> None:
    """Raise."""
    raise ValueError("planted")


def sleep(connection: Connection, server: socket.socket) -> None:
    """Stay, once it is told that there is somebody."""
    connection.send(os.getpid())
    time.sleep(600)


def sleep_twice(connection: Connection, server: socket.socket) -> None:
    """Stay, with a child of its own, and one more that is a fork of it."""
    others = [Server(inherited=server), Server(fork=True)]
    processes = [other.process(sleep) for other in others]
    connection.send([process.connection.recv() for process in processes])
    time.sleep(600)


def use_oneflow(connection: Connection, server: socket.socket) -> None:
    """An eager operator pushed back, a graph, a global tensor; how many threads there are then."""
    import oneflow

    x = oneflow.ones(3, requires_grad=True)
    (oneflow.relu(x) * 2).sum().backward()

    class Doubled(oneflow.nn.Graph):
        def build(self, x):
            return oneflow.relu(x) * 2

    graph = Doubled()
    everywhere = oneflow.ones(2, placement=oneflow.placement.all("cpu"), sbp=oneflow.sbp.broadcast)
    threads = len(list(Path("/proc/self/task").iterdir()))
    connection.send((x.grad.numpy().tolist(), tuple(graph(oneflow.ones(3)).numpy().shape), everywhere.numpy().tolist()))
    connection.send(threads)


def own_a_server(connection: Connection, server: socket.socket) -> None:
    """Ask a new server, of this process, for two processes, and stay."""
    own = Server()
    processes = [own.process(sleep_twice) for _ in range(2)]
    connection.send([process.connection.recv() for process in processes])
    time.sleep(600)


def run_a_script(connection: Connection, server: socket.socket, script: str) -> None:
    """Have a script proved."""
    connection.send(verify(script))


def alive(pid: int) -> bool:
    """Whether a process runs still; one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
