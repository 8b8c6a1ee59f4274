"""A command that stands for the interpreter: it has a process go on that has imported already what it will."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from autotest.processes.child import die_with_parent

#: What the command does: hand over its arguments and where it prints, and end as the process ends that goes on.
_CLIENT = """
import json, os, signal, socket, sys

with socket.socket(socket.AF_UNIX) as asking:
    asking.connect("\\0" + sys.argv[1])
    socket.send_fds(asking, [json.dumps(sys.argv[2:]).encode()], [1, 2])
    status = int(asking.recv(64))
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


class StandIn:
    """Forks this process, as it is where `start` is called, whenever what is `sys.executable` then is called."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pid = 0

    def start(self) -> Sequence[str]:
        """Arrange for it. Returns nothing here, and the arguments of the command in each process that goes on."""
        client, command = (self._folder / name for name in ("client.py", "python"))
        name = secrets.token_hex()  # no path, of which a socket takes 107 characters at most
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(f"\0{name}")
        listening.listen()
        client.write_text(_CLIENT, encoding="utf-8")
        asking = shlex.join([sys.executable, "-IS", str(client), name])
        command.write_text(f'#!/bin/sh\nexec {asking} "$@"\n', encoding="utf-8")
        command.chmod(0o700)
        here = os.getpid()
        self._pid = os.fork()
        if self._pid:
            listening.close()
            sys.executable = str(command)
            return []
        die_with_parent(here)
        return _asked(listening)

    def close(self) -> None:
        """End what waits for the command."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)


def _asked(listening: socket.socket) -> Sequence[str]:
    """Serve the command for ever; returns its arguments in the forks."""
    here = os.getpid()
    while True:
        connection, _ = listening.accept()
        message, descriptors, _, _ = socket.recv_fds(connection, 1 << 16, 2)
        pid = os.fork()
        if not pid:
            die_with_parent(here)
            for descriptor, number in zip(descriptors, (1, 2), strict=True):
                os.dup2(descriptor, number)
            arguments: list[str] = json.loads(message)
            return arguments
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        connection.sendall(str(status).encode())
        for descriptor in (*descriptors, connection.detach()):
            os.close(descriptor)
