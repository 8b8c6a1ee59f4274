"""Ends a command that a user or a machine interrupts, so that it still writes its reports."""

from __future__ import annotations

import contextlib
import math
import signal
import time
from collections.abc import Iterator
from typing import Final

#: Seconds in which a second Ctrl-C belongs to the first.
_TOGETHER: Final = 1.0


@contextlib.contextmanager
def terminated() -> Iterator[None]:
    """Let the first SIGTERM, with which CI and clusters end a run, act like Ctrl-C, and so does SIGHUP of a terminal.

    A second one is ignored, because the findings are being written then: ``timeout`` sends it to the process and at
    once to its group. So is a second SIGINT (``timeout -s INT``), but a later one, as of a user who does not want to
    wait, interrupts again. SIGKILL, which usually follows, ends the process.
    """
    last = -math.inf
    ending = [signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # ``nohup`` ignores it
        ending.append(signal.SIGHUP)

    def interrupt(number: int, frame: object) -> None:
        for one in ending:
            signal.signal(one, lambda number, frame: None)
        raise KeyboardInterrupt

    def pressed(number: int, frame: object) -> None:
        nonlocal last
        earlier, last = last, time.monotonic()
        if last - earlier > _TOGETHER:
            raise KeyboardInterrupt

    before = {one: signal.signal(one, interrupt) for one in ending}
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # a command in the background ignores it
        signal.signal(signal.SIGINT, pressed)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        if usual is signal.default_int_handler:
            signal.signal(signal.SIGINT, usual)
