"""Calls a listener, set by a context manager, when the trials of a decorated test begin."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autotest.running.tally import Tally
    from autotest.trials.context import RunContext
    from autotest.trials.decorated import Test

    #: Called when the trials of a test begin. The tally is filled while they run, so read it when they have ended.
    Listener = Callable[[Test, RunContext, Tally], None]

_listener: ContextVar[Listener | None] = ContextVar("autotest_listener", default=None)


@contextlib.contextmanager
def run_hook(listener: Listener) -> Iterator[None]:
    """Call `listener`, in addition to outer listeners, for every decorated test that is called inside the block."""
    outer = _listener.get()

    def both(test: Test, context: RunContext, tally: Tally) -> None:
        if outer is not None:
            outer(test, context, tally)
        listener(test, context, tally)

    token = _listener.set(both)
    try:
        yield
    finally:
        _listener.reset(token)


def begins(test: Test, context: RunContext, tally: Tally) -> None:
    """Notify the listeners that the trials of `test` begin. Each result is added to `tally`."""
    listener = _listener.get()
    if listener is not None:
        listener(test, context, tally)
