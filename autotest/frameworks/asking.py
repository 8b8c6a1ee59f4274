"""Calls that wait to be carried out in another interpreter, and questions that are asked there when they were."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from autotest.base.errors import FrameworkMissing
from autotest.frameworks.base import Absent, CandidateDied, CandidateHung, Framework
from autotest.frameworks.peer import PATIENCE, START, Peer, PeerGone
from autotest.frameworks.remote import RemoteValue
from autotest.frameworks.states import StateDiffers
from autotest.frameworks.wire import LARGE, RemoteFailure
from autotest.program import Array

#: How many requests wait at most before they are sent: the other process carries them out while this one goes on.
AT_ONCE = 40


class OtherProcessError(RuntimeError):
    """An exception that the candidate raised in its own process; its class there stands in front of its text."""


class AskedElsewhere(Framework):
    """What is asked of the framework called `inner` in the interpreter `python`, which is started when it is needed."""

    asynchronous = True

    def __init__(self, python: str, inner: str) -> None:
        self.python, self.inner = python, inner
        #: Source that the other interpreter begins with.
        self.start = START
        self._peer: Peer | None = None
        self._close: Callable[[], Any] = lambda: None
        #: Whether it ever answered.
        self._met = False
        #: Why it cannot be started, which is not tried again for the next test.
        self._missing = ""
        self._keys = itertools.count()
        self._waiting: list[tuple[Any, ...]] = []
        #: Whether requests were sent since the last answer, which tells of those that failed.
        self._sent = False
        self._dropped: list[int] = []
        self._failed: dict[int, RemoteFailure] = {}

    @property
    def process(self) -> int | None:
        """The number of its process, once that was needed."""
        return None if self._peer is None else self._peer.process

    def _living(self) -> Peer:
        """Its process, with the framework imported; raises `FrameworkMissing` where there is none to be had."""
        if self._missing:
            raise FrameworkMissing(self._missing)
        if self._peer is None or self._peer.closed:
            self._close()
            peer = Peer(self.python, self.inner, self.start)
            self._close = weakref.finalize(self, peer.close)
            try:
                answer, _ = peer.ask(((), (), ("read", ())), PATIENCE)
            except PeerGone as gone:
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

    def _died(self, gone: PeerGone) -> CandidateDied:
        self.deaths += 1
        self._peer = None
        return (CandidateHung if gone.late else CandidateDied)(f"{self.name}: {gone}")

    def _ask(self, *question: Any) -> Any:
        """Send what waits and one question; its answer. Raises `CandidateDied`, or `FrameworkMissing` at the start."""
        peer = self._living()
        self._sent = False
        try:
            answer, failed = peer.ask((*self._taken(), question), self.patience or PATIENCE)
        except PeerGone as gone:
            raise self._died(gone) from gone
        self._failed |= failed
        if type(answer) is RemoteFailure:
            raise self._error(answer)
        return answer

    def _ask_of_names(self, *question: Any) -> Any:
        """The answer to a question that no value is needed for, from a new process where this one has died.

        That the values are gone is told when one of them is asked for.
        """
        try:
            return self._ask(*question)
        except CandidateDied:
            return self._ask(*question)

    def _taken(self) -> tuple[list[tuple[Any, ...]], list[int]]:
        """What waits to be sent, and the values that nobody asks for any more."""
        done, self._waiting = self._waiting, []
        dropped = self._dropped[:]
        del self._dropped[: len(dropped)]  # the list itself is every value's
        return done, dropped

    def _note(self, name: str, *details: Any) -> RemoteValue:
        """Have something done, at once or later."""
        made = RemoteValue(next(self._keys), self._dropped)
        self._waiting.append((name, made.key, *details))
        if len(self._waiting) >= AT_ONCE:
            self._send()
        return made

    def _note_with(self, array: Array, name: str, *details: Any) -> RemoteValue:
        """Have something done with what `array` holds now, which is copied unless it is large, and sent at once."""
        large = array.data.nbytes >= LARGE
        made = self._note(name, *details, array.data if large else array.data.copy(), array.dtype)
        if large:
            self._send()
        return made

    def _send(self) -> None:
        self._living().tell((*self._taken(), None))
        self._sent = True

    def _error(self, failure: RemoteFailure) -> Exception:
        if failure.kind == "absent":
            error = Absent(self.name, "")
            error.args = (failure.text,)
            return error
        if failure.kind == "lost":
            return CandidateDied(f"{self.name}: its process has ended, and what it had computed is gone with it")
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


def _not_served(inner: str, python: str, gone: PeerGone) -> str:
    """Why `python` cannot serve `inner`, and what to do."""
    needed, words = f"{inner.partition(':')[0]} and NumPy", gone.last_words
    if "is too old" in words:  # what `START` says
        advice = "give one of Python 3.10 or newer"
    elif "ModuleNotFoundError" in words:
        advice = f"install {needed} there"
    elif words and not gone.late:
        advice = f"see what `{python} -c 'import numpy'` says"
    else:
        advice = f"give the interpreter of an environment that has {needed}"
    return f"{inner!r} cannot be served by {python}: {gone}; {advice}"


__all__ = ["AT_ONCE", "AskedElsewhere", "OtherProcessError"]
