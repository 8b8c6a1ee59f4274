"""A command that replaces the interpreter: it continues in a fork of a process that has done its imports already."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shlex
import signal
import socket
import sys
from collections.abc import Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from autotest.processes.child import die_with_parent

#: Source of the command: it sends its arguments and standard descriptors, and ends with the same status as the fork.
_CLIENT = """
import json, os, signal, socket, sys

with socket.socket(socket.AF_UNIX) as asking:
    asking.connect("\\0" + sys.argv[1])
    socket.send_fds(asking, [json.dumps(sys.argv[2:]).encode()], [0, 1, 2])
    status = int(asking.recv(64))
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


def starts_interpreters(script: Path) -> bool:
    """Return whether a script needs the command. Most do not, and the process that waits for it is a large one."""
    return "sys.executable" in script.read_text(encoding="utf-8")


class StandIn:
    """Replaces `sys.executable` by a command that continues in a fork of this process, in its state at `start`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pid = 0

    def start(self) -> Sequence[str]:
        """Replace `sys.executable`, and start the process that forks whenever the command runs.

        Returns:
            An empty sequence in this process, and the arguments of the command in each fork.
        """
        client, command = (self._folder / name for name in ("client.py", "python"))
        name = secrets.token_hex()  # not a path: the path of a socket has at most 107 characters
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
        """Kill the process that waits for the command."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)


def _asked(listening: socket.socket) -> Sequence[str]:
    """Serve the command in an endless loop; return its arguments in each fork."""
    here = os.getpid()
    running: dict[Any, tuple[int, socket.socket]] = {}
    while True:
        for ready in wait([listening, *running]):
            if ready is not listening:
                pid, asking = running.pop(ready)
                os.close(ready)
                status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                with asking, contextlib.suppress(OSError):  # the command may have been killed
                    asking.sendall(str(status).encode())
                continue
            asking, _ = listening.accept()
            message, descriptors, _, _ = socket.recv_fds(asking, 1 << 16, 3)
            pid = os.fork()
            if not pid:
                die_with_parent(here)
                for number, descriptor in enumerate(descriptors):
                    os.dup2(descriptor, number)
                arguments: list[str] = json.loads(message)
                return arguments
            for descriptor in descriptors:
                os.close(descriptor)
            running[os.pidfd_open(pid)] = pid, asking
