"""Counts the open file descriptors of this process, and opens more of them than `select` can handle."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

#: Number of descriptors to open. `select` accepts descriptors below 1024.
MANY = 1100


def open_now(kind: str) -> int:
    """Return how many descriptors of this process have `kind` in their target, such as ``pipe:`` or ``.trail``."""
    found = 0
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the descriptor that listed the folder is closed by now
            found += kind in str(link.readlink())
    return found


@contextlib.contextmanager
def many_open(count: int = MANY) -> Iterator[None]:
    """Keep `count` descriptors open in the block; skip the test if this process may not open that many."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = count + 200
    if before[1] != resource.RLIM_INFINITY and before[1] < needed:
        pytest.skip(f"a process may open {before[1]} files here, and this needs {needed}")
    if before[0] != resource.RLIM_INFINITY and before[0] < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, before[1]))
    held: list[int] = []
    try:
        held.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(count))
        yield
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
