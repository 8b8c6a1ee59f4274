"""Keeps torch from looking up the C++ stack of each error that it raises.

Before torch 2.3 every error carries its stack as text, which takes 5 ms, hundreds of times the refused call itself,
and is shown only where TORCH_SHOW_CPP_STACKTRACES asks for it. There is no switch for that, so the function that looks
stacks up is replaced, where it is known how. What errors say stays as it is.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import platform
import sys
from types import ModuleType
from typing import Final

#: The builds for which this was tried: how a compiler takes a result that is returned in memory is its own affair.
_TRIED: Final = "2.0."
#: ``void c10::SetStackTraceFetcher(std::function<std::string()>)``, of a torch built with libstdc++'s older strings.
_SETTER: Final = "_ZN3c1020SetStackTraceFetcherESt8functionIFSsvEE"
#: ``std::string::string()`` of these strings: it makes an empty one where a function's result is expected.
_EMPTY: Final = "_ZNSsC1Ev"


class _Function(ctypes.Structure):
    """A ``std::function`` of libstdc++: what it holds, who copies and destroys that, and who calls it."""

    _fields_ = (("held", ctypes.c_void_p * 2), ("manager", ctypes.c_void_p), ("invoker", ctypes.c_void_p))


def without_stacks(torch: ModuleType) -> bool:
    """Have the errors of `torch` carry an empty stack from now on; returns whether that could be done."""
    # Where a result goes that is returned in memory is an argument like any other on x86-64 only.
    if sys.platform != "linux" or platform.machine() != "x86_64" or not torch.__file__:
        return False
    if not torch.__version__.startswith(_TRIED):
        return False
    if os.environ.get("TORCH_SHOW_CPP_STACKTRACES", "0") != "0":
        return False
    try:
        setter = getattr(ctypes.CDLL(str(pathlib.Path(torch.__file__).parent / "lib" / "libc10.so")), _SETTER)
        empty = getattr(ctypes.CDLL("libstdc++.so.6"), _EMPTY)
        nothing = ctypes.CDLL(None).abs  # it holds nothing, so that there is nothing to copy or destroy
    except (OSError, AttributeError):
        return False  # a build with other strings
    manager, invoker = (ctypes.cast(function, ctypes.c_void_p) for function in (nothing, empty))
    setter.argtypes, setter.restype = [ctypes.c_void_p], None
    setter(ctypes.byref(_Function((ctypes.c_void_p * 2)(), manager, invoker)))
    return True
