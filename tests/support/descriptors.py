"""How many files this process has open, and so many that the next one's number is beyond what `select` takes."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

#: `select` takes numbers below 1024.
MANY = 1100


def open_now(kind: str) -> int:
    """How many descriptors of this process are of what `/proc` says with `kind`, such as ``pipe:`` or ``.trail``."""
    found = 0
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the one that lists them is gone by now
            found += kind in str(link.readlink())
    return found


@contextlib.contextmanager
def many_open(count: int = MANY) -> Iterator[None]:
    """Hold `count` descriptors open; skips where this process may not have so many."""
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
