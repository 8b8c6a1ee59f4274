"""Names of signals, for messages about processes that a signal killed."""

from __future__ import annotations

import contextlib
import signal


def signal_name(number: int) -> str | None:
    """Return the name of a signal, such as ``SIGABRT``; None if it has none, as most real-time signals have."""
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return None
