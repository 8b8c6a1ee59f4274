"""The line of code that built a generator, for error messages."""

from __future__ import annotations

import sys
from types import CodeType

#: Name of a global variable. A module that defines it is never named as the place that built a generator: its caller is
#: named instead. It is meant for libraries that build generators on behalf of a test.
HIDE = "__generators_hide__"
#: Name of a local variable of such a module's functions: the position to name instead of the caller. It is meant for
#: generators that are built later than the test asked for them.
PLACE = "__generators_place__"

_OWN = __package__

CodePosition = tuple[CodeType, int]


def call_site() -> CodePosition:
    """Return the innermost line of the call stack outside of this package and of modules that define `HIDE`.

    A function of such a module that has the local variable `PLACE` ends the search; its value is returned.
    """
    frame = sys._getframe(2)  # the caller is a constructor of this package
    while True:
        names = frame.f_globals
        package = names.get("__package__") or ""
        # Hypothesis, too, calls generators on behalf of a test.
        if HIDE in names and (place := frame.f_locals.get(PLACE)) is not None:
            return place  # type: ignore[no-any-return]
        if package != _OWN and HIDE not in names and not package.startswith("hypothesis"):
            break
        outer = frame.f_back
        if outer is None:
            break
        frame = outer
    # f_lasti and not f_lineno, which searches the line table: most generators never need the line.
    return frame.f_code, frame.f_lasti


def location(where: CodePosition) -> str:
    """Return ``file:line`` for `where`."""
    code, instruction = where
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= instruction < end and number is not None:
            line = number
            break
    return f"{code.co_filename}:{line}"
