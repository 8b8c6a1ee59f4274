"""Formats numbers with the noun that they count, and a matching verb."""

from __future__ import annotations


def several(count: int, noun: str, plural: str = "") -> str:
    """Return ``1 test``, ``2 tests``; `plural` is needed if it is not the noun with an s."""
    return f"{count} {_counted(count, noun, plural)}"


def thousands(count: int, noun: str) -> str:
    """Return ``1 cell``, ``12,000 cells``."""
    return f"{count:,} {_counted(count, noun)}"


def are(count: int) -> str:
    """Return ``is`` for one, ``are`` for any other number."""
    return "is" if count == 1 else "are"


def were(count: int) -> str:
    """Return ``was`` for one, ``were`` for any other number."""
    return "was" if count == 1 else "were"


def _counted(count: int, noun: str, plural: str = "") -> str:
    return noun if count == 1 else plural or f"{noun}s"
