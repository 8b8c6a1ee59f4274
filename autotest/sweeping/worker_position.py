"""Records the current position of a worker in a file, so that it can be read after the worker's death."""

from __future__ import annotations

import enum
import mmap
import struct
import time
from pathlib import Path
from typing import Final, NamedTuple

#: The contents of the file: unit, sample, running, began, generating, as in `WorkerPosition`.
_STATE: Final = struct.Struct("<qqqdq")


class Running(enum.IntEnum):
    """The step that a worker carries out with a sample."""

    #: It has no sample, or has not begun to run it.
    NOTHING = -1
    REFERENCE = 0
    CANDIDATE = 1
    #: A second run of the candidate, for a close examination.
    PROBE = 2


class WorkerPosition(NamedTuple):
    """The last recorded position of a worker."""

    #: Number of the unit; -1 between units.
    unit: int
    sample: int
    running: Running
    #: Start of the sample, or of the current step, in seconds of `time.monotonic`.
    began: float
    #: Whether it generates the next sample. `sample` is then the previous one.
    generating: bool


class PositionFile:
    """The file of one worker, open for writing.

    The file may be read at any moment. Therefore each number is written by a single store, not by `struct`, which
    writes zeros first. The time is written first, so that a new step never seems to have begun long ago.
    """

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _STATE.size)
        self._numbers, self._times = memoryview(self._memory).cast("q"), memoryview(self._memory).cast("d")
        self.idle()

    def sample(self, unit: int, index: int) -> None:
        """Record that a sample has been generated, and is judged next."""
        self._times[3] = time.monotonic()
        self._numbers[4], self._numbers[2], self._numbers[1], self._numbers[0] = False, Running.NOTHING, index, unit

    def unit(self, number: int) -> None:
        """Record that the samples of a unit are being generated, and none is ready yet."""
        self.sample(number, -1)
        self._numbers[4] = True

    def runs(self, running: Running) -> None:
        """Record the step that begins now."""
        self._times[3] = time.monotonic()
        self._numbers[2] = running

    def over(self) -> None:
        """Record that the sample has been judged and the next one is being generated, with a time of its own.

        The step stays recorded: threads of the candidate may still end the process.
        """
        self._times[3] = time.monotonic()
        self._numbers[4] = True

    def position(self) -> WorkerPosition:
        """Return the position written last, by this process or by a fork of it."""
        return _position(self._memory)

    def idle(self) -> None:
        """Record that no sample is being judged."""
        self.sample(-1, -1)


def create(path: Path) -> None:
    """Create the file of a worker; raise `OSError` if that fails."""
    path.write_bytes(_STATE.pack(-1, -1, Running.NOTHING, time.monotonic(), False))


def read(path: Path) -> WorkerPosition:
    """Return the last position of the worker with the file `path`."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), _STATE.size, access=mmap.ACCESS_READ) as memory:
        return _position(memory)


def _position(written: mmap.mmap) -> WorkerPosition:
    # Each number by a single load, because the worker may be writing it: `struct` and `read` copy single bytes.
    with memoryview(written) as whole, whole.cast("q") as numbers, whole.cast("d") as times:
        return WorkerPosition(numbers[0], numbers[1], Running(numbers[2]), times[3], bool(numbers[4]))
