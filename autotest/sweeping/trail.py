"""Where a worker is, written where it can be read after its death."""

from __future__ import annotations

import enum
import mmap
import struct
import time
from pathlib import Path
from typing import Final, NamedTuple

_STATE: Final = struct.Struct("<qqqdq")


class Running(enum.IntEnum):
    """What a worker does with a sample."""

    #: It has none, or has not come to running it.
    NOTHING = -1
    REFERENCE = 0
    CANDIDATE = 1
    #: The candidate once more, to look at it closely.
    PROBE = 2


class WorkerPosition(NamedTuple):
    """Where a worker was last seen."""

    #: Number of the unit; -1 between units.
    unit: int
    sample: int
    running: Running
    #: When the sample, or what is running, began, in seconds of `time.monotonic`.
    began: float
    #: Whether it makes the next sample. `sample` is then the one before.
    making: bool


class Trail:
    """The file of one worker, open for writing.

    It is read at any moment. So each number is written at once, and not by `struct`, which writes zeros first; and the
    time comes first, lest something that has just begun look as if it had begun long ago.
    """

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _STATE.size)
        self._numbers, self._times = memoryview(self._memory).cast("q"), memoryview(self._memory).cast("d")
        self.rest()

    def sample(self, unit: int, index: int) -> None:
        """A sample has been made, and is judged next."""
        self._times[3] = time.monotonic()
        self._numbers[4], self._numbers[2], self._numbers[1], self._numbers[0] = False, Running.NOTHING, index, unit

    def unit(self, number: int) -> None:
        """The samples of a unit are made, and none is there yet."""
        self.sample(number, -1)
        self._numbers[4] = True

    def runs(self, running: Running) -> None:
        """What is run next, whose time begins now."""
        self._times[3] = time.monotonic()
        self._numbers[2] = running

    def over(self) -> None:
        """The sample has been judged, and the next one is made, which takes a time of its own.

        What is told is still where it was: what the candidate's threads do may end the process later.
        """
        self._times[3] = time.monotonic()
        self._numbers[4] = True

    def position(self) -> WorkerPosition:
        """What was written last, by this process or by a fork of it."""
        return _position(self._memory)

    def rest(self) -> None:
        """No sample is being judged."""
        self.sample(-1, -1)


def create(path: Path) -> None:
    """Make the file of a worker; raises `OSError`."""
    path.write_bytes(_STATE.pack(-1, -1, Running.NOTHING, time.monotonic(), False))


def read(path: Path) -> WorkerPosition:
    """Where the worker of `path` was last seen."""
    return _position(path.read_bytes())


def _position(written: bytes | mmap.mmap) -> WorkerPosition:
    unit, sample, running, began, making = _STATE.unpack_from(written)
    return WorkerPosition(unit, sample, Running(running), began, bool(making))
