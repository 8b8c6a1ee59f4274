"""The folder that relative paths of options are relative to, although a test may be working in another one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar

_chosen: ContextVar[str] = ContextVar("autotest_working_folder", default="")


def working_folder() -> str:
    """Return the folder that `working_from` sets, or else the working directory of the process."""
    return _chosen.get() or os.getcwd()  # noqa: PTH109 - every test asks, and a path of pathlib's takes longer


def chosen_folder() -> str:
    """Return the folder that `working_from` sets; empty outside of its blocks."""
    return _chosen.get()


@contextlib.contextmanager
def working_from(folder: str) -> Iterator[None]:
    """Inside the block, relative paths of options are relative to `folder`, wherever a test changes to."""
    token = _chosen.set(folder)
    try:
        yield
    finally:
        _chosen.reset(token)
