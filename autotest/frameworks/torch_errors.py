"""Stops torch from looking up the C++ stack for each error that it raises.

Before torch 2.3, every error carries its stack as text. The look-up takes 5 ms, hundreds of times as long as the
rejected call, and the text is shown only if TORCH_SHOW_CPP_STACKTRACES is set. torch has no switch for it, so this
module replaces the function that looks up stacks, on builds for which that is known to work. Error messages stay the
same.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
import platform
import sys
from types import ModuleType
from typing import Final

#: The torch versions for which this was tried: how a result is returned in memory depends on the compiler.
_TRIED: Final = "2.0."
#: ``void c10::SetStackTraceFetcher(std::function<std::string()>)`` in a torch built with libstdc++'s old string ABI.
_SETTER: Final = "_ZN3c1020SetStackTraceFetcherESt8functionIFSsvEE"
#: ``std::string::string()`` in this ABI. Used as the fetcher, it constructs an empty string in the result's place.
_EMPTY: Final = "_ZNSsC1Ev"


class _Function(ctypes.Structure):
    """A ``std::function`` of libstdc++: the stored functor, the function that manages it, and the one that calls it."""

    _fields_ = (("held", ctypes.c_void_p * 2), ("manager", ctypes.c_void_p), ("invoker", ctypes.c_void_p))


def without_stacks(torch: ModuleType) -> bool:
    """Make the errors of `torch` carry an empty stack from now on; return whether that was possible."""
    # Only on x86-64 is the address of a result that is returned in memory an ordinary argument.
    if sys.platform != "linux" or platform.machine() != "x86_64" or not torch.__file__:
        return False
    if not torch.__version__.startswith(_TRIED):
        return False
    if os.environ.get("TORCH_SHOW_CPP_STACKTRACES", "0") != "0":
        return False
    return _set_empty(torch.__file__)


@functools.lru_cache(maxsize=1)  # each of the many adapters of a run asks for it
def _set_empty(file: str) -> bool:
    """Set the fetcher of the torch in `file`."""
    try:
        setter = getattr(ctypes.CDLL(str(pathlib.Path(file).parent / "lib" / "libc10.so")), _SETTER)
        empty = getattr(ctypes.CDLL("libstdc++.so.6"), _EMPTY)
        nothing = ctypes.CDLL(None).abs  # a no-op manager: there is no functor to copy or destroy
    except (OSError, AttributeError):
        return False  # a build with another string ABI
    manager, invoker = (ctypes.cast(function, ctypes.c_void_p) for function in (nothing, empty))
    setter.argtypes, setter.restype = [ctypes.c_void_p], None
    setter(ctypes.byref(_Function((ctypes.c_void_p * 2)(), manager, invoker)))
    return True
