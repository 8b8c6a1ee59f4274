"""Formats numbers with the noun that they count, and a matching verb."""

from __future__ import annotations


def several(count: int, noun: str, plural: str = "") -> str:
    """Return ``1 test``, ``2 tests``; `plural` is needed if it is not the noun with an s."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def thousands(count: int, noun: str) -> str:
    """Return ``1 cell``, ``12,000 cells``."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def are(count: int) -> str:
    """Return ``is`` for one, ``are`` for any other number."""
    return "is" if count == 1 else "are"


def were(count: int) -> str:
    """Return ``was`` for one, ``were`` for any other number."""
    return "was" if count == 1 else "were"


def rounding(cleared: int) -> str:
    """Return the sentence about the number of mismatches that the referee cleared."""
    mismatches = several(cleared, "mismatch", "mismatches")
    return f"{mismatches} {were(cleared)} only rounding according to the float64 referee"
