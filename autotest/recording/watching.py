"""The watch of a context: notified of each call before a side makes it, because the call may crash the process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Final, Protocol

from autotest.comparison import Side
from autotest.program import Call


class Watch(Protocol):
    """Object that is notified by each recorder that is created while it is active."""

    def about_to(self, recorder: Any, side: Side, call: Call) -> None:
        """Handle the announcement that `side` is about to make `call`.

        The reference is announced first, unless the call is an input, and then the candidate.

        The method may end the trial: it notes a rejection in the record and raises `TrialEnd`.
        """


_watch: ContextVar[Watch | None] = ContextVar("autotest_watch", default=None)


#: Returns the watch of this context, or None.
watching: Final[Callable[[], Watch | None]] = _watch.get


@contextlib.contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Notify `watch` of the calls of every recorder that is created inside the block."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)
