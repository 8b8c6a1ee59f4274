"""Numbers with the noun that they count, and a verb that fits."""

from __future__ import annotations


def several(count: int, noun: str, plural: str = "") -> str:
    """``1 test``, ``2 tests``; `plural` where it is not the noun with an s."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def were(count: int) -> str:
    """``was`` for one, ``were`` for any other number."""
    return "was" if count == 1 else "were"


def rounding(cleared: int) -> str:
    """The sentence that says how many mismatches the referee cleared."""
    mismatches = several(cleared, "mismatch", "mismatches")
    return f"{mismatches} {were(cleared)} only rounding, says the float64 referee"
