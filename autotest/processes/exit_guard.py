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
    """A handler that glibc calls first when native code calls `exit`; it is registered inside of blocks only.

    Outside of them, the handler would be called after the end of the interpreter, whose code it is.
    """

    def __init__(self, libc: Any) -> None:
        self._register, self._finalize = libc["__cxa_atexit"], libc["__cxa_finalize"]
        self._depth = 0
        self._process = 0
        self._handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._exiting)
        #: Its address identifies the handler among all that are registered.
        self._owner = ctypes.byref(ctypes.c_char())
        atexit.register(self._unregister)  # for a fork inside of a block that ends as an interpreter does

    def arm(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._process = os.getpid()
            self._register(self._handler, None, self._owner)

    def disarm(self) -> None:
        self._depth -= 1
        if not self._depth:
            self._unregister()

    def _unregister(self) -> None:
        self._process = 0
        self._finalize(self._owner)  # which calls the handler

    def _exiting(self, argument: object) -> None:
        if self._process == os.getpid():
            os.abort()
