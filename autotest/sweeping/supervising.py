"""Judges a unit in forks of the process that has its samples, so that a crash costs no more than another fork."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from autotest.frameworks import Pair
from autotest.frameworks.samples import Sample
from autotest.processes.child import die_with_parent, end_like, run_to_end
from autotest.processes.endings import describe, last_words
from autotest.sweeping.judged_units import JudgedPart, judged_samples
from autotest.sweeping.units import Ended, Unit, after_death, was_counted
from autotest.sweeping.worker_position import PositionFile, Running


def supervised(
    unit: Unit, made: Sequence[Sample], pair: Pair, position_file: PositionFile, log: Path
) -> Iterator[JudgedPart]:
    """Judge the samples of `unit` in a child process; after each crash, continue in another child."""
    while True:
        heard = _size(log)
        pid, connection = _forked(unit, made, pair, position_file)
        upto, done = unit.start, False
        # `recv` raises another error if the child ended in the middle of a message.
        with connection, contextlib.suppress(EOFError, OSError):
            while not done:
                part: JudgedPart = connection.recv()
                upto, done = part.upto, part.done
                if part.deadly:
                    unit = unit.with_deadly(part.deadly)
                yield part
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if done:
            return
        position = position_file.position()
        ended = Ended(position.running, describe(status), last_words(_read(log, heard)))
        if position.running is Running.NOTHING or was_counted(unit, position.sample):
            # Not during a sample: this process ends in the same way, so that the engine is notified.
            end_like(status)
        unit = after_death(unit, upto, position.sample, ended)


def _forked(unit: Unit, made: Sequence[Sample], pair: Pair, position_file: PositionFile) -> tuple[int, Connection]:
    """Fork a child that judges; return its process id and the connection for its parts."""
    reading, writing = Pipe(duplex=False)
    parent = os.getpid()

    def judge() -> None:
        die_with_parent(parent)
        reading.close()
        for part in judged_samples(unit, made, pair, position_file):
            writing.send(part)

    pid = os.fork()
    if not pid:
        run_to_end(judge)
    writing.close()
    return pid, reading


def _size(log: Path) -> int:
    with contextlib.suppress(OSError):
        return log.stat().st_size
    return 0


def _read(log: Path, start: int) -> str:
    with contextlib.suppress(OSError), log.open(errors="replace") as file:
        file.seek(start)
        return file.read()
    return ""
