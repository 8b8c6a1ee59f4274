"""Runs a script in this process."""

from __future__ import annotations

import runpy
import sys
import traceback


def run_path(path: str) -> int:
    """Run a script as an interpreter does, and return its exit status."""
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001 - as an interpreter does
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0
