"""Imports what makes hundreds of thousands of objects without looking for garbage among them: they stay."""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def unsearched() -> Iterator[None]:
    """For an import of a framework: nothing is looked for meanwhile, nor at the end of the process, which frees it all.

    Both searches take a third of the processor time of a process that imports torch and ends.
    """
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()
        _frozen_at_the_end()


@functools.cache
def _frozen_at_the_end() -> None:
    atexit.register(gc.freeze)


__all__ = ["unsearched"]
