"""Hands a test that is called as usual over to somebody else's loop of trials."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TypeAlias

from autotest.trials.context import RunContext
from autotest.trials.trial import Test

#: What runs the trials of a test: here, inside of `Pair.around_trials`, or in another process, for which no framework
#: is imported here.
Driver: TypeAlias = Callable[[Test, RunContext], None]

_driver: ContextVar[Driver | None] = ContextVar("autotest_driver", default=None)


def driver() -> Driver | None:
    """Who runs the trials in this context; None for the test's own loop."""
    return _driver.get()


@contextlib.contextmanager
def driven_by(chosen: Driver, known_as: str = "") -> Iterator[None]:
    """Let `chosen` run the trials of every decorated test that is called inside the block.

    With `known_as`, that is the test's id, by whatever way it is called.
    """

    def named(test: Test, context: RunContext) -> None:
        chosen(dataclasses.replace(test, id=known_as), context)

    token = _driver.set(named if known_as else chosen)
    try:
        yield
    finally:
        _driver.reset(token)
