"""Fill the uninitialised memory of the C library's allocator with a known byte."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Final

#: `M_PERTURB` of glibc's `malloc.h`.
_PERTURB: Final = -6
#: Bytes that uninitialised memory is filled with in turn, so that an operator that reads it gives different results:
#: 0x00 makes zeros, 0xFF makes NaN, or -1 as an integer.
FILLINGS: Final = (0x00, 0xFF)


@contextlib.contextmanager
def unwritten_memory(byte: int) -> Iterator[None]:
    """Fill all memory that `malloc` allocates inside the block with `byte`.

    Uses glibc's `mallopt(M_PERTURB, ...)`, which applies to all threads; with another C library this does nothing.
    Memory that an allocator on top of `malloc` keeps for reuse, and GPU memory, is not filled. After the block,
    `malloc` does not fill memory any more, even if the environment variable `MALLOC_PERTURB_` is set.

    Args:
        byte: the byte to fill with, 0 to 255.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        yield
        return
    # glibc fills with the complement of the lowest byte. The value 0 means "do not fill"; 0x100 keeps it from being 0.
    mallopt(_PERTURB, 0x100 | byte ^ 0xFF)
    try:
        yield
    finally:
        mallopt(_PERTURB, 0)


__all__ = ["FILLINGS", "unwritten_memory"]
