"""Which parts of a report a terminal may show in colour."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

LineRole = Literal["", "headline", "verdict", "divergent", "expected", "actual"]

#: Lines by their role, and the two values of a mismatch, between which a line may have been broken.
_MARKED = re.compile(
    r"\A(?P<headline>\S+ diverges from \S+: [^\n]*)$"
    r"|^(?P<verdict>Verdict: [^\n]*)$"
    r"|^(?P<divergent>[^\n]*# <-- first divergent call)$"
    r"|\bexpected\s+(?P<expected>(?:(?!\n\n).){1,200}?),\s+actual\s+(?P<actual>.+?)(?=\s\(|\.\s|\Z)",
    re.MULTILINE | re.DOTALL,
)


def pieces(report: str) -> Iterator[tuple[str, LineRole]]:
    """`report` in pieces, none of them empty."""
    begin = 0
    for found in _MARKED.finditer(report):
        for role in _ROLES:
            start, end = found.span(role)
            if end > start:
                if start > begin:
                    yield report[begin:start], ""
                yield report[start:end], role
                begin = end
    if report[begin:]:
        yield report[begin:], ""


_ROLES: tuple[LineRole, ...] = ("headline", "verdict", "divergent", "expected", "actual")

__all__ = ["LineRole", "pieces"]
