"""What all processes of a command take of the processors together, as Linux counts it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

#: Seconds between two looks: what a process did after the last look at it is missed.
_LOOK_EVERY = 0.1


def processor_time(command: Sequence[str], folder: Path, environment: Mapping[str, str], without: str) -> float:
    """Run `command` in a session of its own, and say how many seconds of the processors its processes took.

    Those are left out whose command line holds the text `without`.
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
            # One that has ended has no command line any more, and has taken no more since.
            if stat.session == process.pid and (line := _command_line(stat.pid)) and without not in line:
                taken[stat.pid] = stat.taken
        time.sleep(_LOOK_EVERY)
    return sum(taken.values())


def _command_line(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    return ""


def taken_below(pid: int) -> float:
    """Seconds of the processors that the processes below `pid` have taken so far, those that ended left out."""
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
    #: Seconds of the processors.
    taken: float


def _stats() -> Iterator[_Stat]:
    ticks = os.sysconf("SC_CLK_TCK")
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
            taken = (int(fields[11]) + int(fields[12])) / ticks
            yield _Stat(int(stat.parent.name), int(fields[1]), int(fields[3]), taken)
