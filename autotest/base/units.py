"""Parses durations and sizes given on command lines and in the environment."""

from __future__ import annotations

import math
import re

from autotest.base.errors import UsageError

#: The smallest allowed size, in bytes. A smaller one is a mistake, such as a number without its unit.
LEAST_SIZE = 1 << 20
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def duration(text: str, asked: str = "") -> float:
    """Return the seconds of ``90``, ``90s``, ``1.5m`` or ``2h``.

    Args:
        text: the duration.
        asked: the start of the error message, such as ``"AUTOTEST_DEADLINE='soon'"``; by default the text.

    Raises:
        UsageError: the text is no duration, or is not above 0.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|m|min|h|)\s*", text)
    seconds = 0.0 if match is None else float(match[1]) * _SECONDS[match[2]]
    if not 0 < seconds < math.inf:
        raise UsageError(f"{asked or repr(text)}: expected a time such as 60s, 10m or 2h")
    return seconds


def size(text: str, asked: str = "") -> int:
    """Return the bytes of ``500M`` or ``4G``.

    Args:
        text: the size.
        asked: the start of the error message, such as ``"AUTOTEST_MEMORY='lots'"``; by default the text.

    Raises:
        UsageError: the text is no size, or is less than `LEAST_SIZE`.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", text, re.IGNORECASE)
    amount = 0.0 if match is None else float(match[1]) * 1024.0 ** " KMGT".index(match[2].upper() or " ")
    if not 0 < amount < math.inf:
        raise UsageError(f"{asked or repr(text)}: expected a size such as 500M or 4G")
    bytes_ = int(amount)
    if bytes_ < LEAST_SIZE:
        raise UsageError(
            f"{asked or repr(text)}: that is {bytes_:,} B, but a trial needs at least 1M; expected a size such as "
            "500M or 4G"
        )
    return bytes_
