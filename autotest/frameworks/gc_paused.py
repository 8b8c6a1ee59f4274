"""Turns off the garbage collector for imports that create hundreds of thousands of objects, all of which stay alive."""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_gc() -> Iterator[None]:
    """Run the block, an import of a framework, without garbage collection, and skip the collection at exit.

    The process frees all memory at its end anyway. Both collections take a third of the processor time of a process
    that imports torch and ends.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
        _freeze_at_exit()


@functools.cache
def _freeze_at_exit() -> None:
    atexit.register(gc.freeze)
