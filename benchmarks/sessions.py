"""Measures the processor time of all processes of a command together, as counted by Linux."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

#: Seconds between two polls. Processor time that a process uses after its last poll is not counted.
_LOOK_EVERY = 0.1


def processor_time(command: Sequence[str], folder: Path, environment: Mapping[str, str], without: str) -> float:
    """Run `command` in a session of its own, and return the processor seconds that its processes used.

    Processes whose command line contains the text `without` are not counted.
    """
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    taken: dict[int, float] = {}
    while process.poll() is None:
        for stat in _stats():
            # A process that has ended has no command line. Its last recorded time stays valid.
            if stat.session == process.pid and (line := _command_line(stat.pid)) and without not in line:
                taken[stat.pid] = stat.taken
        time.sleep(_LOOK_EVERY)
    return sum(taken.values())


def _command_line(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    return ""


def taken_below(pid: int) -> float:
    """Return the processor seconds used so far by the descendants of `pid` that are still running."""
    stats = list(_stats())
    wanted, total = {pid}, 0.0
    while found := [stat for stat in stats if stat.parent in wanted and stat.pid not in wanted]:
        wanted |= {stat.pid for stat in found}
        total += sum(stat.taken for stat in found)
    return total


class _Stat(NamedTuple):
    pid: int
    parent: int
    session: int
    #: Processor seconds used so far.
    taken: float


def _stats() -> Iterator[_Stat]:
    ticks = os.sysconf("SC_CLK_TCK")
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
            taken = (int(fields[11]) + int(fields[12])) / ticks
            yield _Stat(int(stat.parent.name), int(fields[1]), int(fields[3]), taken)
