"""Commands to copy, as a shell takes them."""

from __future__ import annotations

import shlex


def reproduce(place: str) -> str:
    """What runs the script of the finding that is kept in the folder `place`."""
    return f"python {shlex.quote(f'{place}/repro.py')}"
