"""Numbers with the noun that they count."""

from __future__ import annotations


def several(count: int, noun: str) -> str:
    """``1 test``, ``2 tests``, ``1,000 trials``: `noun` is the last word's singular, and takes an s."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
