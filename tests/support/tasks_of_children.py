"""Tasks that the tests of the process server run in its children."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import socket
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

from autotest.diagnosis.verification import verify
from autotest.processes.client import Server
from autotest.processes.prepared import PreparedInterpreter, Template


def tell(connection: Connection, server: socket.socket, value: object) -> None:
    """Send `value`, facts about this child's environment, and whether torch is imported."""
    known = {
        "pid": os.getpid(),
        "parent": os.getppid(),
        "folder": str(Path.cwd()),
        "told": os.environ.get("TESTS_TOLD"),
    }
    connection.send((value, known, "torch" in sys.modules))


def import_module(connection: Connection, server: socket.socket, name: str) -> None:
    """Import the module `name`, and send its file."""
    connection.send(importlib.import_module(name).__file__)


def backward(connection: Connection, server: socket.socket) -> None:
    """Send the names of the modules that a backward pass of torch imports."""
    import torch

    before = set(sys.modules)
    x = torch.ones(2, requires_grad=True)
    (x * 2).backward(torch.ones(2))
    connection.send(sorted(set(sys.modules) - before))


def garbage(connection: Connection, server: socket.socket) -> None:
    """Send whether this child collects garbage, and the number of objects that its collector ignores."""
    connection.send((gc.isenabled(), gc.get_freeze_count()))


def command(connection: Connection, server: socket.socket, *arguments: str) -> None:
    """Run a command of this library, and send its exit status."""
    from autotest.cli import main

    connection.send(main(list(arguments)))


def abort(connection: Connection, server: socket.socket) -> None:
    """Print a message, and die of a signal."""
    os.write(1, b"Check failed: planted")
    os.abort()


def fail(connection: Connection, server: socket.socket) -> None:
    """Raise an exception."""
    raise ValueError("planted")


def sleep(connection: Connection, server: socket.socket) -> None:
    """Send the process id, and sleep."""
    connection.send(os.getpid())
    time.sleep(600)


def sleep_twice(connection: Connection, server: socket.socket) -> None:
    """Start a child of the given server and a child of a server forked from this process, send their ids, and sleep."""
    others = [Server(inherited=server), Server(fork=True)]
    processes = [other.process(sleep) for other in others]
    connection.send([process.connection.recv() for process in processes])
    time.sleep(600)


def start_a_process(connection: Connection, server: socket.socket) -> None:
    """Start a process that does not end by itself, send the ids of both, and sleep."""
    started = subprocess.Popen(["sleep", "600"])
    connection.send((os.getpid(), started.pid))
    time.sleep(600)


def end_the_group(connection: Connection, server: socket.socket) -> None:
    """Send SIGTERM to the process group, as a library does that means its own processes."""
    os.killpg(0, signal.SIGTERM)
    time.sleep(600)


def use_oneflow(connection: Connection, server: socket.socket) -> None:
    """Run an eager operator with gradient, a graph and a global tensor in OneFlow; send results and thread count."""
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
    # Kept, so that this process ends without destroying them: on a busy machine, that crashed OneFlow 0.9.0 in 6 of 116
    # processes.
    vars(oneflow)["kept"] = (graph, everywhere)
    connection.send(threads)


def own_a_server(connection: Connection, server: socket.socket) -> None:
    """Start two processes with a new server of this process, send their ids, and sleep."""
    own = Server()
    processes = [own.process(sleep_twice) for _ in range(2)]
    connection.send([process.connection.recv() for process in processes])
    time.sleep(600)


def run_a_script(connection: Connection, server: socket.socket, script: str) -> None:
    """Verify a script, and send the result."""
    connection.send(verify(script))


def run_a_prepared_script(connection: Connection, server: socket.socket, script: str) -> None:
    """Send the id of the process that interpreters are forked from, and run a script in one of them."""
    template = Template(["import wave"])
    connection.send(template.pid)
    PreparedInterpreter(template).run(script, 60.0)


def alive(pid: int) -> bool:
    """Return whether a process is still running. A zombie, which its parent has not waited for yet, is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
