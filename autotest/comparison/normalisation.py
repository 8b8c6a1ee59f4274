"""Removes from a message the parts that change from trial to trial or from machine to machine."""

from __future__ import annotations

import re

#: Patterns of message parts that change although the failure is the same, each with its replacement.
_VARYING = tuple(
    (re.compile(pattern), constant)
    for pattern, constant in (
        (r"\b0x[0-9a-fA-F]+", "N"),
        (r"(?<![\w.])(?:/[\w.+-]+)+/(?=[\w.+-])", ""),  # folders
        (r"\b(?!u?int\d)[a-z]{1,4}\d+\b", "it"),  # names of values; dtypes stay
        (r"(?<![\w.])[-+]?(?:\d[\d.e+-]*|inf\b|nan\b)", "N"),
        (r"(?<![A-Za-z\d])\d[\d.e+-]*(?![A-Za-z_])", "N"),  # after a dot, or at the end of a word
        (r"\bN(?:x\d+)+\b", "N"),  # shapes as torch writes them: 2x3
        (r"\bN(?:[, ] ?N)+\b", "N"),  # shapes of any rank
        (r"\((?:N,? ?)?\)", "(N)"),
    )
)


def normalised(text: str) -> str:
    """Return `text` without numbers, shapes, addresses, folders and names of values.

    Two messages of the same failure result in the same text.
    """
    for pattern, constant in _VARYING:
        text = pattern.sub(constant, text)
    return text
