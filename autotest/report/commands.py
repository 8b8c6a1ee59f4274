"""Shell commands to copy."""

from __future__ import annotations

import shlex


def reproduce(place: str) -> str:
    """Return the command that runs the script of the finding in the folder `place`."""
    return f"python {shlex.quote(f'{place}/repro.py')}"
