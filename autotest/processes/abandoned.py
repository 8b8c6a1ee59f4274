"""Removes the folders of processes that were killed before they could remove them."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterable
from pathlib import Path


def remove_old(folders: Iterable[Path], seconds: float) -> None:
    """Remove those of `folders` that did not change for `seconds`: their processes may run on another machine."""
    for folder in folders:
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > seconds:
                shutil.rmtree(folder, ignore_errors=True)
