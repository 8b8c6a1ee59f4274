"""Write texts as string literals."""

from __future__ import annotations


def string(text: str) -> str:
    """Return the literal of `text`, in double quotes if that needs no more escapes."""
    quoted = repr(text)
    return quoted if '"' in quoted or "\\'" in quoted else f'"{quoted[1:-1]}"'


__all__ = ["string"]
