"""Lets another component, such as the fuzzer, run the trials of a decorated test that is called normally."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TypeAlias

from autotest.trials.context import RunContext
from autotest.trials.decorated import Test

#: Runs the trials of a test: in this process inside `Pair.around_trials`, or in another process, so that no framework
#: is imported here.
Driver: TypeAlias = Callable[[Test, RunContext], None]

_driver: ContextVar[Driver | None] = ContextVar("autotest_driver", default=None)


def driver() -> Driver | None:
    """Return the driver set in this context, or None if the test runs its own trials."""
    return _driver.get()


@contextlib.contextmanager
def driven_by(chosen: Driver, known_as: str = "") -> Iterator[None]:
    """Let `chosen` run the trials of every decorated test that is called inside the block.

    `known_as`, if not empty, replaces the id of the test.
    """

    def named(test: Test, context: RunContext) -> None:
        chosen(dataclasses.replace(test, id=known_as), context)

    token = _driver.set(named if known_as else chosen)
    try:
        yield
    finally:
        _driver.reset(token)
