"""Who is told of each call before either side is asked to make it, since the process may die of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Final, Protocol

from autotest.comparison import Side
from autotest.program import Call


class Watch(Protocol):
    """Is told by each recorder that is made while it watches."""

    def about_to(self, recorder: Any, side: Side, call: Call) -> None:
        """`side` is asked for `call` now: first the reference, where it is no input, and then the candidate.

        May end the trial, by noting a rejection and raising `TrialEnd`.
        """


_watch: ContextVar[Watch | None] = ContextVar("autotest_watch", default=None)


#: Who watches in this context.
watching: Final[Callable[[], Watch | None]] = _watch.get


@contextlib.contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Let `watch` be told of the calls of every recorder that is made inside the block."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)
