"""The end of a program that runs in a fork instead of in an interpreter of its own."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable


def status_of(program: Callable[[], object]) -> int:
    """Call `program`; return the status with which an interpreter would end, and print what it would print."""
    try:
        program()
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        sys.stderr.write(f"{ended.code}\n")
        return 1
    except BaseException:  # noqa: BLE001 - as an interpreter does
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0
