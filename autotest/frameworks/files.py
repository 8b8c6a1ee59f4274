"""Where a side keeps the files that a program saves, so that two sides never write into one."""

from __future__ import annotations

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
    """The path of `framework`'s own file called `name`, in a folder that is there."""
    folder = _folder(framework)
    folder.mkdir(mode=0o700, exist_ok=True)
    return str(folder / name)


def remove(framework: Framework) -> None:
    """Remove every file of `framework`'s own."""
    shutil.rmtree(_folder(framework), ignore_errors=True)


def _folder(framework: Framework) -> Path:
    # A fork keeps the objects of its parent, and must not remove what that one reads.
    return Path(tempfile.gettempdir(), f"autotest-{os.getpid()}-{id(framework):x}")


__all__ = ["LOADS", "SAVES", "path", "remove"]
