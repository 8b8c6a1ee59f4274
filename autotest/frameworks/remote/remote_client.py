"""The sending side of a framework in another interpreter: queues calls, sends them in batches, and asks questions."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from autotest.base.errors import FrameworkMissing
from autotest.frameworks.base import Framework
from autotest.frameworks.failures import Absent, CandidateDied, CandidateHung
from autotest.frameworks.remote.peer import REPLY_TIMEOUT, START, Peer, PeerDied
from autotest.frameworks.remote.remote_values import RemoteValue
from autotest.frameworks.remote.wire import LARGE, RemoteFailure
from autotest.frameworks.states import StateDiffers
from autotest.program import Array

#: Maximum number of queued requests. When it is reached they are sent, and the other process runs them while this
#: process continues.
AT_ONCE = 40


class OtherProcessError(RuntimeError):
    """An exception that the candidate raised in its own process. The message starts with the original class name."""


class RemoteFramework(Framework):
    """The connection to the framework `inner` in the interpreter `python`, whose process is started on first use."""

    asynchronous = True

    def __init__(self, python: str, inner: str) -> None:
        self.python, self.inner = python, inner
        #: Source code that the other interpreter runs at its start.
        self.start = START
        self._peer: Peer | None = None
        self._close: Callable[[], Any] = lambda: None
        #: Whether the process has ever replied.
        self._met = False
        #: Why the process could not be started; empty if no start has failed. A failed start is not tried again.
        self._missing = ""
        self._keys = itertools.count()
        self._waiting: list[tuple[Any, ...]] = []
        #: Whether requests were sent after the last reply. A reply reports the requests that failed.
        self._sent = False
        self._dropped: list[int] = []
        #: Whether the last queued request left a context, which may end only when its value is dropped.
        self._left_context = False
        self._failed: dict[int, RemoteFailure] = {}

    @property
    def process(self) -> int | None:
        """The process id, or None if the process has not been needed yet."""
        return None if self._peer is None else self._peer.process

    def _started_peer(self) -> Peer:
        """Return the process, started if needed, with the framework imported; raise `FrameworkMissing` on failure."""
        if self._missing:
            raise FrameworkMissing(self._missing)
        if self._peer is None or self._peer.closed:
            self._close()
            peer = Peer(self.python, self.inner, self.start)
            self._close = weakref.finalize(self, peer.close)
            try:
                answer, _ = peer.ask(((), (), ("read", ())), REPLY_TIMEOUT)
            except PeerDied as gone:
                if self._met:
                    raise self._died(gone) from gone
                self._missing = _not_served(self.inner, self.python, gone)
                raise FrameworkMissing(self._missing) from gone
            if type(answer) is RemoteFailure:
                peer.close()
                self._missing = str(self._error(answer))
                raise FrameworkMissing(self._missing)
            self._peer, self._met = peer, True
        return self._peer

    def _died(self, gone: PeerDied) -> CandidateDied:
        self.deaths += 1
        self._peer = None
        return (CandidateHung if gone.late else CandidateDied)(f"{self.name}: {gone}")

    def _ask(self, *question: Any) -> Any:
        """Send the queued requests and one question, and return the reply.

        Raises:
            CandidateDied: if the process has ended or does not reply in time.
            FrameworkMissing: if the process cannot be started.
        """
        peer = self._started_peer()
        self._sent = False
        try:
            answer, failed = peer.ask((*self._take_queue(), question), self.patience or REPLY_TIMEOUT)
        except PeerDied as gone:
            raise self._died(gone) from gone
        self._failed |= failed
        if type(answer) is RemoteFailure:
            raise self._error(answer)
        return answer

    def _ask_statelessly(self, *question: Any) -> Any:
        """Ask a question that needs no value of the other process; if the process has died, ask a new process.

        The loss of the old process's values is reported later, when one of them is requested.
        """
        try:
            return self._ask(*question)
        except CandidateDied:
            return self._ask(*question)

    def _take_queue(self) -> tuple[list[tuple[Any, ...]], list[int]]:
        """Return the queued requests and the keys of values that are no longer referenced, and clear both lists."""
        done, self._waiting = self._waiting, []
        return done, self._take_dropped()

    def _take_dropped(self) -> list[int]:
        """Return the keys of values that are no longer referenced, and clear the list."""
        dropped = self._dropped[:]
        del self._dropped[: len(dropped)]  # in place: every `RemoteValue` holds a reference to this list
        return dropped

    def _queue_request(self, name: str, *details: Any) -> RemoteValue:
        """Queue a request, send the queue if it is full, and return the value that the request will make."""
        made = RemoteValue(next(self._keys), self._dropped)
        if self._left_context:
            # OneFlow's no_grad ends only when its object is destroyed: that must happen before the next call.
            self._left_context = False
            self._waiting.append(("drop", made.key, self._take_dropped()))
        self._waiting.append((name, made.key, *details))
        self._left_context = name == "call" and details[0] == "exit"
        if len(self._waiting) >= AT_ONCE:
            self._send()
        return made

    def _queue_request_with(self, array: Array, name: str, *details: Any) -> RemoteValue:
        """Queue a request with the present contents of `array`: a small array is copied, a large one sent at once."""
        large = array.data.nbytes >= LARGE
        made = self._queue_request(name, *details, array.data if large else array.data.copy(), array.dtype)
        if large:
            self._send()
        return made

    def _send(self) -> None:
        self._started_peer().tell((*self._take_queue(), None))
        self._sent = True

    def _error(self, failure: RemoteFailure) -> Exception:
        if failure.kind == "absent":
            error = Absent(self.name, "")
            error.args = (failure.text,)
            return error
        if failure.kind == "lost":
            return CandidateDied(f"{self.name}: its process has ended, and its results are lost")
        if failure.kind == "state":
            return StateDiffers(failure.text)
        if failure.kind == "missing":
            return FrameworkMissing(f"{self.inner!r} cannot be served by {self.python}: {failure.text}")
        return OtherProcessError(f"{failure.type}: {failure.text}")

    def first_failure(self, values: Sequence[Any]) -> tuple[int, Exception] | None:
        if self._waiting or self._sent:
            self._ask("read", ())
        if not self._failed:
            return None
        for slot, value in enumerate(values):
            if isinstance(value, RemoteValue) and value.key in self._failed:
                return slot, self._error(self._failed[value.key])
        return None


def _not_served(inner: str, python: str, gone: PeerDied) -> str:
    """Return the message that says why `python` cannot serve `inner`, and what to do about it."""
    needed, words = f"{inner.partition(':')[0]} and NumPy", gone.last_words
    if "is too old" in words:  # the message of `START`
        advice = "give one of Python 3.10 or newer"
    elif "ModuleNotFoundError" in words:
        advice = f"install {needed} there"
    elif words and not gone.late:
        advice = f"see what `{python} -c 'import numpy'` says"
    else:
        advice = f"give the interpreter of an environment that has {needed}"
    return f"{inner!r} cannot be served by {python}: {gone}; {advice}"
