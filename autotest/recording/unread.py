"""Notes whether a test computes with dual objects outside of trials, and whether it reads any of the results."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TypeVar


@dataclasses.dataclass(slots=True)
class Watched:
    """What a test did outside of trials.

    Attributes:
        computed: whether it used dual objects.
        read: whether it read a plain value or one side of a result, or a call raised: then something was compared.
    """

    computed: bool = False
    read: bool = False

    @property
    def nothing_compared(self) -> bool:
        """Whether dual objects were used, and nothing compared their results."""
        return self.computed and not self.read


_T = TypeVar("_T")
_watched: ContextVar[Watched | None] = ContextVar("watched", default=None)


@contextlib.contextmanager
def watching() -> Iterator[Watched]:
    """Watch what happens outside of trials within the context."""
    watched = Watched()
    token = _watched.set(watched)
    try:
        yield watched
    finally:
        _watched.reset(token)


def note_computed() -> None:
    """Note that a dual object was used outside of trials."""
    watched = _watched.get()
    if watched is not None:
        watched.computed = True


def note_read() -> None:
    """Note that a result was read outside of trials, or that a call raised there."""
    watched = _watched.get()
    if watched is not None:
        watched.read = True


def as_read(value: _T) -> _T:
    """Return `value`, and note that it was read."""
    note_read()
    return value
