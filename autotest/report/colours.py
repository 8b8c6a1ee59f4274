"""Finds the parts of a report that a terminal may show in colour."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

LineRole = Literal["", "headline", "verdict", "divergent", "expected", "actual"]

#: Lines by their role, and the two values of a mismatch, which may be wrapped over several lines.
_MARKED = re.compile(
    r"\A(?P<headline>\S+ diverges from \S+: [^\n]*)$"
    r"|^(?P<verdict>Verdict: [^\n]*)$"
    r"|^(?P<divergent>[^\n]*# <-- first divergent call)$"
    r"|\bexpected\s+(?P<expected>(?:(?!\n\n).){1,200}?),\s+actual\s+(?P<actual>.+?)(?=\s\(|\.\s|\Z)",
    re.MULTILINE | re.DOTALL,
)


def pieces(report: str) -> Iterator[tuple[str, LineRole]]:
    """Split `report` into non-empty pieces, each with its role."""
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
