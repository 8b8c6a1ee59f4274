"""The position of a worker can be read at any time, also while it is being written."""

from __future__ import annotations

import os
import time
from pathlib import Path

from autotest.processes.child import die_with_parent
from autotest.sweeping import worker_position
from autotest.sweeping.worker_position import PositionFile, Running


def test_a_reader_never_meets_a_time_that_is_just_being_written(tmp_path: Path) -> None:
    """Otherwise the worker would seem to have worked on its sample since the start of the machine."""
    began, parent = time.monotonic(), os.getpid()
    path = tmp_path / "trail"
    worker_position.create(path)
    writer = os.fork()
    if writer == 0:
        die_with_parent(parent)
        written = PositionFile(path)
        while time.monotonic() - began < 5:
            written.sample(3, 4)
            written.runs(Running.REFERENCE)
            written.over()
        os._exit(0)
    try:
        positions = [worker_position.read(path) for _ in range(20_000)]
    finally:
        os.kill(writer, 9)
        os.waitpid(writer, 0)
    assert min(position.began for position in positions) >= began
    assert {position.unit for position in positions} <= {-1, 3}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "trail"
    worker_position.create(path)
    written = PositionFile(path)
    assert worker_position.read(path)[:3] == (-1, -1, Running.NOTHING)
    written.sample(3, 4)
    written.runs(Running.PROBE)
    assert worker_position.read(path)[:3] == written.position()[:3] == (3, 4, Running.PROBE)
    written.over()
    assert worker_position.read(path)[:3] == (3, 4, Running.PROBE)
    written.idle()
    assert worker_position.read(path)[:3] == (-1, -1, Running.NOTHING)
