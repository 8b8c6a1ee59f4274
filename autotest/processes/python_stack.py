"""The Python stack of another process: shows what a process that does not answer is doing."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

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
            return [Frame(Path(name), int(line), function) for name, line, function in _FRAME.findall(written)]
        seen = written
    return []


__all__ = ["Frame", "answering_requests", "stack_of"]
