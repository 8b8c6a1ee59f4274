"""Fills the uninitialised memory of the C library's allocator with a known byte."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Final

#: `M_PERTURB` of glibc's `malloc.h`.
_PERTURB: Final = -6
#: Bytes that uninitialised memory is filled with in turn, so that an operator that reads it gives different results:
#: 0x00 makes zeros, 0xFF makes NaN, or -1 as an integer.
FILLINGS: Final = (0x00, 0xFF)
#: Another such byte, which makes ordinary numbers of every dtype.
_ORDINARY: Final = 0x3F

#: The byte of the innermost block that fills memory; None outside of all blocks.
_filling: ContextVar[int | None] = ContextVar("autotest_filling", default=None)


@contextlib.contextmanager
def unwritten_memory(byte: int) -> Iterator[None]:
    """Fill all memory that `malloc` allocates inside the block with `byte`.

    Uses glibc's `mallopt(M_PERTURB, ...)`, which applies to all threads; with another C library this does nothing.
    Memory that an allocator on top of `malloc` keeps for reuse, and GPU memory, is not filled. After the outermost
    block, `malloc` does not fill memory any more, even if the environment variable `MALLOC_PERTURB_` is set.

    Args:
        byte: the byte to fill with, 0 to 255.
    """
    mallopt = _mallopt()
    if mallopt is None:
        yield
        return
    token = _filling.set(byte)
    mallopt(_PERTURB, _setting(byte))
    try:
        yield
    finally:
        _filling.reset(token)
        mallopt(_PERTURB, _setting(_filling.get()))


def current_filling() -> int:
    """Return the byte of the innermost block of `unwritten_memory`; one of ordinary numbers outside of all blocks."""
    byte = _filling.get()
    return _ORDINARY if byte is None else byte


@functools.cache  # it takes as long as the run of a short program
def _mallopt() -> Callable[[int, int], object] | None:
    """Return the function of the C library; None if it has none."""
    found: Callable[[int, int], object] | None = getattr(ctypes.CDLL(None), "mallopt", None)
    return found


def _setting(byte: int | None) -> int:
    # glibc fills with the complement of the lowest byte. The value 0 means "do not fill"; 0x100 keeps it from being 0.
    return 0 if byte is None else 0x100 | byte ^ 0xFF
