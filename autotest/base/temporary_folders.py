"""Makes folders for a process in the temporary folder, and removes those of processes that were killed."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

#: Age in seconds after which the folder of a process that is not on this machine counts as abandoned. The process may
#: run in another container.
STALE: Final = 24 * 3600
#: The prefixes of the folders of traced trials and of scripts, in which workers are killed.
TRACES: Final = "autotest-trace-"
SCRIPTS: Final = "autotest-script-"
#: What follows the prefix in a name of `own_folder`: the process id, `_pid_namespace()`, and random characters.
_NAMED: Final = re.compile(r"(\d+)-(\w*)-\w+")


def own_folder(prefix: str) -> Path:
    """Make a temporary folder of this process, and remove those with the same `prefix` that were abandoned."""
    _remove_once(Path(tempfile.gettempdir()), prefix)
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-{_pid_namespace()}-"))


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


@functools.cache  # once in a process: others may have left thousands of files in the temporary folder
def _remove_once(temporary: Path, prefix: str) -> None:
    remove_abandoned(prefix, temporary)


def remove_abandoned(prefix: str, temporary: Path | None = None) -> None:
    """Remove the temporary folders of `own_folder` with this `prefix` whose processes have ended."""
    for place in (temporary or Path(tempfile.gettempdir())).glob(f"{prefix}*-*"):
        named = _NAMED.fullmatch(place.name.removeprefix(prefix))
        if named is None:
            continue  # somebody else made it
        pid, namespace = named.groups()
        if is_running(pid):
            continue
        if namespace and namespace == _pid_namespace():
            shutil.rmtree(place, ignore_errors=True)
        else:
            remove_old([place], STALE)


@functools.cache
def _pid_namespace() -> str:
    """Return a name of the processes among which a process id is unique, those of a container until the next boot.

    Empty if the system has no such name. Then no process can be shown to have ended, either.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        return f"{boot[:8]}{Path('/proc/self/ns/pid').stat().st_ino:x}"
    except OSError:  # not Linux
        return ""


def is_running(pid: str) -> bool:
    """Return whether this machine has a process with the number `pid`, other than one that has ended.

    In a container nobody may wait for a process whose parent was killed, so that its number stays in use.
    """
    try:
        return Path("/proc", pid, "stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except (OSError, IndexError):
        return False


def remove_old(folders: Iterable[Path], seconds: float) -> None:
    """Remove those of `folders` that did not change for `seconds`."""
    for folder in folders:
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > seconds:
                shutil.rmtree(folder, ignore_errors=True)
