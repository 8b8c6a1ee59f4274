"""Tells when the next line of a log of progress is due, on an output that is no terminal."""

from __future__ import annotations

import time

#: Seconds between two lines.
LOG_EVERY = 10.0


class Pacing:
    """Is due every `LOG_EVERY` seconds."""

    def __init__(self) -> None:
        self._next = time.monotonic() + LOG_EVERY

    def is_due(self) -> bool:
        """Return whether a line is due now; the next one is due `LOG_EVERY` seconds later."""
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + LOG_EVERY
        return True
