"""The Python stack of another process: shows what one that does not answer is doing, or one that died was doing."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

#: Asks for the stack.
_REQUEST: Final = signal.SIGUSR1
#: Seconds to wait for it. The handler needs no Python code, so that it also runs while a framework computes.
_WAIT: Final = 2.0
#: How `faulthandler` writes a frame.
_FRAME: Final = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)


class Frame(NamedTuple):
    """One frame of a stack."""

    file: Path
    line: int
    function: str


@contextlib.contextmanager
def answering_requests(file: Path) -> Iterator[None]:
    """Inside the block, this process appends its stack to `file` whenever `stack_of` asks for it."""
    with file.open("a", encoding="utf-8") as opened:
        faulthandler.register(_REQUEST, file=opened, all_threads=False)
        try:
            yield
        finally:
            faulthandler.unregister(_REQUEST)


@contextlib.contextmanager
def recording_death(file: Path) -> Iterator[None]:
    """Inside the block, this process writes its stack to `file` if a signal such as SIGSEGV, or `os._exit`, ends it."""
    own, leave = os.getpid(), os._exit

    def recorded(status: int) -> NoReturn:
        if os.getpid() == own:  # forks of this process end in this way, too
            faulthandler.dump_traceback(opened, all_threads=False)
        leave(status)

    with file.open("w", encoding="utf-8") as opened:
        # Only the thread that dies is written: what the others were doing is not the cause.
        faulthandler.enable(opened, all_threads=False)
        os._exit = recorded
        try:
            yield
        finally:
            os._exit = leave
            faulthandler.disable()


def stack_at_death(file: Path) -> list[Frame]:
    """Return the stack of a process that died inside of `recording_death(file)`, innermost frame first.

    The list is empty if the process did not die, or was ended from outside, or by a thread that runs no Python code.
    """
    if not file.exists():
        return []
    frames = _frames(file.read_text(encoding="utf-8", errors="replace"))
    return [frame for frame in frames if frame.file != Path(__file__)]  # without that of `recorded`


def stack_of(process: int, file: Path) -> list[Frame]:
    """Return the stack of a process inside of `answering_requests(file)`, innermost frame first.

    The list is empty if the process has not entered that block, has ended, or does not answer.
    """
    if not file.exists():
        return []  # without a handler, the signal would end the process
    before = file.stat().st_size
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, _REQUEST)
    end, seen = time.monotonic() + _WAIT, ""
    while time.monotonic() < end:
        time.sleep(0.05)
        written = file.read_bytes()[before:].decode(errors="replace")
        if written and written == seen:  # nothing was added since the last look, so it is complete
            return _frames(written)
        seen = written
    return []


def _frames(written: str) -> list[Frame]:
    return [Frame(Path(name), int(line), function) for name, line, function in _FRAME.findall(written)]
