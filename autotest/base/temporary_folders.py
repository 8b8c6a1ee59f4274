"""Makes folders for a process in the temporary folder, and removes those of processes that were killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

#: Age in seconds after which the folder of a process that is not on this machine counts as abandoned. The process may
#: run in another container.
STALE: Final = 24 * 3600


def own_folder(prefix: str) -> Path:
    """Make a temporary folder of this process, and remove those with the same `prefix` that were abandoned."""
    remove_old(_without_process(prefix), STALE)
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-"))


@contextlib.contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Yield a folder as `own_folder` makes it, and remove it afterwards.

    A fork that leaves the block does not remove it, because its parent still uses it.
    """
    maker = os.getpid()
    folder = own_folder(prefix)
    try:
        yield folder
    finally:
        if os.getpid() == maker:
            shutil.rmtree(folder, ignore_errors=True)


def _without_process(prefix: str) -> Iterator[Path]:
    for place in Path(tempfile.gettempdir()).glob(f"{prefix}*-*"):
        if not is_running(place.name.removeprefix(prefix).partition("-")[0]):
            yield place


def is_running(pid: str) -> bool:
    """Return whether this machine has a process with the number `pid`."""
    return Path("/proc", pid).exists()


def remove_old(folders: Iterable[Path], seconds: float) -> None:
    """Remove those of `folders` that did not change for `seconds`."""
    for folder in folders:
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > seconds:
                shutil.rmtree(folder, ignore_errors=True)


__all__ = ["STALE", "is_running", "own_folder", "remove_old", "temporary_folder"]
