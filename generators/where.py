"""Where a generator was written, for error messages."""

from __future__ import annotations

import sys
from types import CodeType

#: A module that sets this global to a true value is never named as the place where a generator was
#: written: the line of its caller is. For libraries that build generators on behalf of a test.
HIDE = "__generators_hide__"

_OWN = __package__

CodePosition = tuple[CodeType, int]


def here() -> CodePosition:
    """The innermost line of the call stack that is outside of this package and of modules that `HIDE`."""
    frame = sys._getframe(2)  # the caller is a constructor of this package
    while True:
        names = frame.f_globals
        package = names.get("__package__") or ""
        # Hypothesis calls generators on behalf of a test, too.
        if package != _OWN and HIDE not in names and not package.startswith("hypothesis"):
            break
        outer = frame.f_back
        if outer is None:
            break
        frame = outer
    # f_lasti, because f_lineno walks the line table at once and most generators never fail.
    return frame.f_code, frame.f_lasti


def text(where: CodePosition) -> str:
    """``file:line`` of `where`."""
    code, instruction = where
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= instruction < end and number is not None:
            line = number
            break
    return f"{code.co_filename}:{line}"
