"""What the C library's allocator hands out: memory that nobody has written to holds something known."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Final

#: `M_PERTURB` of glibc's `malloc.h`.
_PERTURB: Final = -6
#: What memory consists of by turns, so that whoever reads it unwritten shows: zeros, and NaN, as a whole number -1.
FILLINGS: Final = (0x00, 0xFF)


@contextlib.contextmanager
def unwritten_memory(byte: int) -> Iterator[None]:
    """Let all memory that this process is given meanwhile consist of `byte`, 0 to 255, until it is written to.

    By `mallopt(M_PERTURB, ...)` of glibc, for all threads; elsewhere this does nothing. What an allocator on top of it
    keeps for later, or takes from a GPU, is not reached. Afterwards memory is left as it is found, also where the
    environment's `MALLOC_PERTURB_` has asked for something else.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        yield
        return
    # glibc fills with the complement of the lowest byte, and takes 0 as a whole for "do not fill".
    mallopt(_PERTURB, 0x100 | byte ^ 0xFF)
    try:
        yield
    finally:
        mallopt(_PERTURB, 0)


__all__ = ["FILLINGS", "unwritten_memory"]
