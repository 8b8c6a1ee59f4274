"""Turns a call of C's `exit` in the middle of a test into an abort.

The error handler of the reference BLAS ends the process with status 0: pytest would end without a summary, and green.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import os
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def aborting_exit() -> Iterator[None]:
    """Abort this process if native code calls `exit` in the block, as if a signal had killed it.

    `sys.exit` and `os._exit` are not affected. Without glibc, nothing is.
    """
    guard = _guard()
    if guard is None:
        yield
        return
    guard.arm()
    try:
        yield
    finally:
        guard.disarm()


@functools.lru_cache(maxsize=1)
def _guard() -> _Guard | None:
    libc = ctypes.PyDLL(None)
    return _Guard(libc) if hasattr(libc, "gnu_get_libc_version") else None


class _Guard:
    """A handler that glibc calls when native code calls `exit`.

    It is registered once: glibc goes through the handlers of all libraries to remove one, which takes longer than a
    trial. It is removed before the interpreter ends, whose code it is.
    """

    def __init__(self, libc: Any) -> None:
        self._depth = 0
        self._process = 0
        self._handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._exiting)
        owner = ctypes.byref(ctypes.c_char())  # its address identifies the handler among all that are registered
        libc["__cxa_atexit"](self._handler, None, owner)
        atexit.register(self._remove, libc["__cxa_finalize"], owner)

    def arm(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._process = os.getpid()

    def disarm(self) -> None:
        self._depth -= 1
        if not self._depth:
            self._process = 0

    def _remove(self, finalize: Any, owner: object) -> None:
        self._process = 0  # also in a fork inside of a block that ends as an interpreter does
        finalize(owner)  # which calls the handler

    def _exiting(self, argument: object) -> None:
        if self._process == os.getpid():
            os.abort()
