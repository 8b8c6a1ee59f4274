"""Leaves out of a message what is another in every trial, or on every machine."""

from __future__ import annotations

import re

#: A part of messages that changes although the failure is the same, and what stands for it.
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
    """`text` without numbers, shapes, addresses, folders and names of values; two of one failure are the same."""
    for pattern, constant in _VARYING:
        text = pattern.sub(constant, text)
    return text
