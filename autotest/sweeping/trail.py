"""Where a worker is, written where it can be read after its death."""

from __future__ import annotations

import mmap
import struct
import time
from pathlib import Path
from typing import Final, NamedTuple

_STATE: Final = struct.Struct("<qqqd")


class Position(NamedTuple):
    """Where a worker was last seen."""

    #: Number of the unit; -1 between units.
    unit: int
    sample: int
    #: Who was asked: 0 the reference, 1 the candidate, 2 the candidate in a probe; -1 nobody.
    side: int
    #: When the sample, or this side's turn, began, in seconds of `time.monotonic`.
    began: float


class Trail:
    """The file of one worker, open for writing."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _STATE.size)
        self.rest()

    def sample(self, unit: int, index: int) -> None:
        _STATE.pack_into(self._memory, 0, unit, index, -1, time.monotonic())

    def asks(self, side: int) -> None:
        """The side that is asked next, whose time begins now."""
        struct.pack_into("<qd", self._memory, 16, side, time.monotonic())

    def position(self) -> Position:
        """What was written last, by this process or by a fork of it."""
        return Position(*_STATE.unpack_from(self._memory, 0))

    def rest(self) -> None:
        """No sample is being judged."""
        _STATE.pack_into(self._memory, 0, -1, -1, -1, time.monotonic())


def create(path: Path) -> None:
    """Make the file of a worker; raises `OSError`."""
    path.write_bytes(_STATE.pack(-1, -1, -1, time.monotonic()))


def read(path: Path) -> Position:
    """Where the worker of `path` was last seen."""
    return Position(*_STATE.unpack(path.read_bytes()[: _STATE.size]))
