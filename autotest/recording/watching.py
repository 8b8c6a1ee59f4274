"""Who is told of each call before either side is asked to make it, since the process may die of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any, Protocol

from autotest.program import CallKind, Operand


class Watch(Protocol):
    """Is told by each recorder that is made while it watches."""

    def asks_reference(
        self, recorder: Any, kind: CallKind, target: str, operands: Sequence[Operand], named: dict[str, Operand]
    ) -> None:
        """The reference comes first."""

    def about_to(
        self, recorder: Any, kind: CallKind, target: str, operands: tuple[Operand, ...], named: dict[str, Operand]
    ) -> None:
        """Now the candidate. May end the trial, by noting a rejection and raising `TrialEnd`."""


_watch: ContextVar[Watch | None] = ContextVar("autotest_watch", default=None)


def watching() -> Watch | None:
    """Who watches in this context."""
    return _watch.get()


@contextlib.contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Let `watch` be told of the calls of every recorder that is made inside the block."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)
