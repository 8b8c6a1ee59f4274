"""Draws from generators in the trials of a test, without running one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from generators import Source, using
from generators.levels import BLOCK
from generators.source import TRIAL_BITS

T = TypeVar("T")


def trials(draw: Callable[[], T], test: int = 7, *, start: int = 0, count: int = BLOCK) -> list[T]:
    """Return the results of `draw` in `count` trials of a test, from trial `start` on."""
    drawn = []
    for index in range(start, start + count):
        with using(Source(index << TRIAL_BITS | test)):
            drawn.append(draw())
    return drawn
