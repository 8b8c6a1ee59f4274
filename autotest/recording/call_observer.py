"""The observer that is notified before either side runs a call, because the call may crash the process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Final, Protocol

from autotest.comparison import Side
from autotest.program import Call


class CallObserver(Protocol):
    """Is notified by every recorder that is created while it is set."""

    def before_call(self, recorder: Any, side: Side, call: Call) -> None:
        """Notify that `side` is about to run `call`: first the reference, unless it is an input, then the candidate.

        May end the trial: set the rejection of `recorder` and raise `TrialEnd`.
        """


class _Unobserved:
    """Ignores all calls; the observer where none is set."""

    def before_call(self, recorder: Any, side: Side, call: Call) -> None:
        pass


_observer: ContextVar[CallObserver] = ContextVar("autotest_call_observer", default=_Unobserved())  # noqa: B039 - without state

#: Returns the observer set in this context.
current_observer: Final[Callable[[], CallObserver]] = _observer.get


@contextlib.contextmanager
def notifying(observer: CallObserver) -> Iterator[None]:
    """Notify `observer` of the calls of every recorder that is created inside the block."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)
