"""Interpreters that are forked from one that has imported the reference and has run nothing else.

To import torch 2.0.1 takes two thirds of the time of a script, and nothing that a script does changes what the next one
finds: each runs in a fork of its own. Only imports that leave no state behind which a fork would lack are made before
the fork. OneFlow is not among them: it would notice the fork, and run its calls in the calling thread. A script imports
it as in any other interpreter.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Final, TypeAlias

from autotest.base.temporary_folders import SCRIPTS, own_folder
from autotest.processes.fresh import END_WITH, RUN, FreshInterpreter, imports_among, with_absolute_paths

#: The process that forks. For each interpreter it receives a folder and three descriptors: the interpreter's input, its
#: output, and a link to its parent, which sends its own process id and then the interpreter's exit status. This parent
#: leads the process group of the interpreter, and does what `fresh._WATCH` does for one that is not forked.
_FORK: Final = (
    END_WITH
    + """
import gc, json, shutil, socket, struct, sys

NUMBER = struct.Struct("<q")
owner = socket.socket(fileno=int(sys.argv[1]))

def end(*_):
    owner.setblocking(False)
    try:
        while folder := owner.recv(4096):
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os._exit(0)

def reap(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass

end_with(int(sys.argv[2]), end)
signal.signal(signal.SIGCHLD, reap)
sys.path[:] = [path for path in sys.path if path]  # the folder of this process is of no script
gc.disable()
for line in json.loads(sys.argv[3]):
    try:
        exec(line, {})
    except Exception:
        pass
gc.freeze()
template = os.getpid()
while True:
    folder, descriptors, _, _ = socket.recv_fds(owner, 4096, 3)
    if not folder:
        os._exit(0)
    if os.fork() == 0:
        break
    for one in descriptors:
        os.close(one)

def end_group(*_):
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)

os.setsid()
end_with(template, end_group)
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
owner.close()
given, output, link = descriptors
interpreter = os.fork()
if interpreter:
    os.close(given)
    os.close(output)
    try:
        os.write(link, NUMBER.pack(os.getpid()))
        os.write(link, NUMBER.pack(os.waitstatus_to_exitcode(os.waitpid(interpreter, 0)[1])))
        os.read(link, 1)  # the id of this process stays valid until the other end is closed
    finally:
        end_group()
for number in ENDING:
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
os.chdir(folder)
for number, one in enumerate((given, output, output)):
    os.dup2(one, number)
for one in descriptors:
    os.close(one)
sys.path.insert(0, "")
"""
)
_NUMBER: Final = struct.Struct("<q")
#: Variables that pytest changes for every test; no script reads them.
_CHANGING: Final = frozenset(("PYTEST_CURRENT_TEST",))


class Template:
    """The process that forks the interpreters. It ends with this object, or with the process that made it."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Start the process, and let it run the import statements `lines`."""
        own, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # It dies with the thread that started it, and only the main thread lives as long as the process.
        parent = os.getpid() if threading.current_thread() is threading.main_thread() else 0
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-c", _FORK + RUN, str(theirs.fileno()), str(parent), json.dumps(lines)],
                pass_fds=[theirs.fileno()],
                env=with_absolute_paths(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._socket = own
        self.pid = process.pid
        #: Ends the process. It also runs when this object is garbage collected and at the end of this process.
        self.close = weakref.finalize(self, _end, process, own, os.getpid())

    def fork(self, folder: str, descriptors: Sequence[int]) -> None:
        """Have an interpreter forked that runs in `folder`; `OSError` if the process has ended."""
        socket.send_fds(self._socket, [folder.encode()], descriptors)


def _end(process: subprocess.Popen[bytes], own: socket.socket, owner: int) -> None:
    own.close()
    if os.getpid() == owner:  # not in a fork, which has a copy of the object
        process.kill()
        process.wait()


class PreparedInterpreter:
    """An interpreter for one script, forked from one that has imported modules; used like a `FreshInterpreter`."""

    def __init__(self, template: Template, lines: Sequence[str] = ()) -> None:
        """Fork the interpreter, and let it run the import statements among `lines`; `OSError` if that cannot be."""
        self._template = template  # the interpreter would end with it
        self._folder = own_folder(SCRIPTS)
        given, our_input = os.pipe()
        our_output, output = os.pipe()
        self._input, self._output = os.fdopen(our_input, "wb", 0), os.fdopen(our_output, "rb", 0)
        self._link, link = socket.socketpair()
        #: The parent of the interpreter, which lives until `close`; None until it has sent its process id.
        self._leader: int | None = None
        try:
            template.fork(str(self._folder), (given, output, link.fileno()))
        except OSError:
            self.close()
            raise
        finally:
            link.close()
            os.close(given)
            os.close(output)
        self._tell(json.dumps(imports_among(lines)))

    def _tell(self, line: str) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._input.write(f"{line}\n".encode())

    def run(self, script: str, deadline: float) -> tuple[int | None, str]:
        """Return the exit status of `script` and its output; (None, "") if it did not end within `deadline` s."""
        path = self._folder / "repro.py"
        path.write_text(script, encoding="utf-8")
        self._tell(json.dumps([str(path), str(Path.cwd())]))
        end = time.monotonic() + deadline
        output = bytearray()
        while wait([self._output.fileno()], max(0.0, end - time.monotonic())):
            read = self._output.read(65_536)
            if not read:
                break
            output += read
        else:
            return None, ""
        status = self._status(end)
        return status, "" if status is None else io.StringIO(output.decode(errors="replace"), None).read()

    def _status(self, end: float) -> int | None:
        """Return the exit status of the interpreter; None if it has not ended at `end`."""
        try:
            if self._leader is None:
                self._leader = self._number(end)
            return self._number(end) if self._leader is not None else None
        except EOFError:
            return -signal.SIGKILL  # its parent was killed, and so was the interpreter

    def _number(self, end: float) -> int | None:
        """Return the next number that the parent of the interpreter sends; None if it sends none until `end`."""
        if not wait([self._link], max(0.0, end - time.monotonic())):
            return None
        try:
            data = self._link.recv(_NUMBER.size, socket.MSG_WAITALL)
        except ConnectionResetError:
            data = b""
        if not data:
            raise EOFError("the parent of the interpreter has ended")
        number: int = _NUMBER.unpack(data)[0]
        return number

    def close(self) -> None:
        """Kill the interpreter, and every process that its script has started.

        If it is not forked yet, it ends as soon as it is.
        """
        with contextlib.suppress(EOFError, ProcessLookupError, PermissionError):
            if self._leader is None:
                self._leader = self._number(0.0)
            if self._leader is not None:
                os.killpg(self._leader, signal.SIGKILL)
        for end in (self._link, self._input, self._output):
            end.close()
        shutil.rmtree(self._folder, ignore_errors=True)


ScriptInterpreter: TypeAlias = PreparedInterpreter | FreshInterpreter


def prepared_interpreter(ahead: Sequence[str] = (), lines: Sequence[str] = ()) -> ScriptInterpreter:
    """Return an interpreter for one script.

    Args:
        ahead: lines of the script whose imports leave no state that a fork would lack. They run once, for all
            interpreters of this process that are made with the same ones.
        lines: the first lines of the script. The interpreter runs the imports among them.
    """
    modules = tuple(imports_among(ahead))
    if not modules:
        return FreshInterpreter(lines)
    with contextlib.suppress(OSError):
        return PreparedInterpreter(_template(os.getpid(), modules, _environment()), lines)
    # The process was killed, for example because memory was short.
    _template.cache_clear()
    return FreshInterpreter(lines)


@functools.lru_cache(maxsize=1)  # one process waits, with the memory of a framework
def _template(process: int, modules: tuple[str, ...], environment: frozenset[tuple[str, str]]) -> Template:
    """Return the template of this process; another one if `environment`, which it takes over, has changed."""
    return Template(modules)


def _environment() -> frozenset[tuple[str, str]]:
    around = with_absolute_paths(os.environ)  # a relative path means another folder after a change of the working one
    return frozenset((name, value) for name, value in around.items() if name not in _CHANGING)
