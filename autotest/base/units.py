"""Times and sizes as people write them, on command lines and in the environment."""

from __future__ import annotations

import re

from autotest.base.errors import UsageError

#: Bytes; a smaller size is one that lacks its unit.
LEAST_SIZE = 1 << 20
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def duration(text: str, asked: str = "") -> float:
    """Seconds of ``90``, ``90s``, ``1.5m`` or ``2h``.

    Raises `UsageError` for any other text, which it tells as `asked` has it: ``"AUTOTEST_DEADLINE='soon'"``.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|m|min|h|)\s*", text)
    if match is None or float(match[1]) <= 0:
        raise UsageError(f"{asked or repr(text)}: expected a time such as 60s, 10m or 2h")
    return float(match[1]) * _SECONDS[match[2]]


def size(text: str, asked: str = "") -> int:
    """Bytes of ``500M`` or ``4G``; raises `UsageError` as `duration` does, and for less than a megabyte."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", text, re.IGNORECASE)
    if match is None or float(match[1]) <= 0:
        raise UsageError(f"{asked or repr(text)}: expected a size such as 500M or 4G")
    bytes_ = int(float(match[1]) * 1024.0 ** " KMGT".index(match[2].upper() or " "))
    if bytes_ < LEAST_SIZE:
        raise UsageError(
            f"{asked or repr(text)}: that is {bytes_:,} B, and no trial fits in less than 1M; expected 500M or 4G"
        )
    return bytes_
