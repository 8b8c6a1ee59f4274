"""Shows a long operation in one line of a terminal while it runs, and erases the line afterwards."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import IO

#: Seconds until the line appears, and between updates.
_SHOWN_AFTER, _TICK = 0.5, 1.0
#: Moves the cursor to the start of the line, and erases the rest of it.
_CLEARED = "\r\x1b[K"

_terminal: ContextVar[IO[str] | None] = ContextVar("autotest_terminal", default=None)


def shown_on(stream: IO[str] | None) -> contextlib.AbstractContextManager[None]:
    """Let `doing` write to `stream` inside the block, if that is a terminal and no other terminal is set."""
    if stream is None or _terminal.get() is not None or not stream.isatty():
        return contextlib.nullcontext()
    return _written_to(stream)


@contextlib.contextmanager
def _written_to(stream: IO[str]) -> Iterator[None]:
    token = _terminal.set(stream)
    try:
        yield
    finally:
        _terminal.reset(token)


@contextlib.contextmanager
def doing(what: str) -> Iterator[None]:
    """Show `what` and its elapsed seconds until the block is left; show nothing if no terminal is set."""
    terminal = _terminal.get()
    if terminal is None:
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_tell, args=(terminal, what, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _tell(terminal: IO[str], what: str, over: threading.Event) -> None:
    begin = time.monotonic()
    wait = _SHOWN_AFTER
    with contextlib.suppress(OSError, ValueError):  # a closed terminal must not fail the operation
        while not over.wait(wait):
            terminal.write(f"{_CLEARED}{what}... {time.monotonic() - begin:.0f} s")
            terminal.flush()
            wait = _TICK
        if wait == _TICK:
            terminal.write(_CLEARED)
            terminal.flush()
