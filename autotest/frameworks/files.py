"""The files that a program saves, in a separate folder for each side: two sides never write to the same file."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from autotest.frameworks.base import Framework

#: The function that writes its argument into a file, and the one that reads it back.
SAVES: Final = "save"
LOADS: Final = "load"


def path(framework: Framework, name: str) -> str:
    """Return the path of the file `name` in the folder of `framework`, which is made if it does not exist."""
    folder = _folder(framework)
    folder.mkdir(mode=0o700, exist_ok=True)
    return str(folder / name)


def remove(framework: Framework) -> None:
    """Remove the folder of `framework` with all its files, once no pending call needs them any more."""
    with contextlib.suppress(Exception):  # whatever a pending call raises is raised again where its result is read
        framework.synchronize()
    shutil.rmtree(_folder(framework), ignore_errors=True)


def _folder(framework: Framework) -> Path:
    # The process id is part of the name: a forked process has the same objects as its parent, and must not remove the
    # files that the parent reads.
    return Path(tempfile.gettempdir(), f"autotest-{os.getpid()}-{id(framework):x}")
