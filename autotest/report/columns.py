"""Formats rows of text as left-justified columns."""

from __future__ import annotations

from collections.abc import Sequence


def columns(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the headings and rows as lines of left-justified columns."""
    widths = [max(len(line[at]) for line in (headings, *rows)) for at in range(len(headings))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in (headings, *rows)
    ]
    return "\n".join(line.rstrip() for line in lines)
