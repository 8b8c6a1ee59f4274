"""Writes texts as string literals, and texts of expressions so that they can be operands."""

from __future__ import annotations


def string(text: str) -> str:
    """Return the literal of `text`, in double quotes if that needs no more escapes."""
    quoted = repr(text)
    return quoted if '"' in quoted or "\\'" in quoted else f'"{quoted[1:-1]}"'


def bracketed(text: str) -> str:
    """Return the text of an operand of an operator, in parentheses if it would bind wrongly without them."""
    return f"({text})" if text.startswith("-") else text
