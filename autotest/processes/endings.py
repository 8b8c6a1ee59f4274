"""How a process ended and what it said last, and the limits that it may be given."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from autotest.frameworks import Pair

#: What frameworks say when they are loaded, on machines without the hardware that they look for.
_NOISE = ("libibverbs", "cuda_device_", "@", "*", "File ")
#: What glog puts in front of a line: severity, date, time and thread.
_STAMP = re.compile(r"^[IWEF]\d{8} [\d:.]+ +\d+ ")
#: How many times the memory of a trial is added where it is judged.
_TIMES_TO_JUDGE = 3
#: What colours a terminal.
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
#: ``file.py:12: UserWarning: text``.
_WARNING = re.compile(r":\d+: \w*Warning: ")


@dataclasses.dataclass(frozen=True, slots=True)
class ProcessDeath:
    """How a process ended that was to go on."""

    symptom: Literal["crash", "hang", "out of memory"]
    #: A signal's name, ``status 3``, or ``no answer in 20 s``.
    how: str


def killed_for_memory(counters: Path = Path("/proc/vmstat")) -> int:
    """How many processes this machine's kernel has killed so far because memory was short; 0 where it does not tell."""
    with contextlib.suppress(OSError, ValueError):
        counted = dict(line.split(maxsplit=1) for line in counters.read_text().splitlines())
        return int(counted.get("oom_kill", 0))
    return 0


def death_by(status: int, killed_before: int | None = None) -> ProcessDeath:
    """What it means that a process within its time ended with this exit status.

    `killed_before` is what `killed_for_memory` gave before the process was started.
    """
    if status != -signal.SIGKILL:
        return ProcessDeath("crash", describe(status))
    # Nobody here sends SIGKILL to such a process.
    if killed_before is not None and killed_for_memory() > killed_before:
        return ProcessDeath("out of memory", describe(status))
    return ProcessDeath("crash", f"{describe(status)}: out of memory, or somebody's kill -9")


class Pace:
    """How long programs of one kind take here that come to an end; all that run them share it."""

    #: Seconds that are waited for at least, and how many times the longest of them.
    LEAST, TIMES = 2.0, 20.0

    def __init__(self) -> None:
        self._longest = 0.0

    def took(self, seconds: float) -> None:
        """One of them came to its end after so long."""
        self._longest = max(self._longest, seconds)

    def patience(self, expected: float, most: float) -> float:
        """Seconds after which one hangs that should take about `expected`; `most` at most."""
        return min(most, max(self.LEAST, self.TIMES * max(expected, self._longest)))


def no_answer(seconds: float) -> ProcessDeath:
    """What it means that a process said nothing for so long."""
    return ProcessDeath("hang", f"no answer in {seconds:g} s")


def describe(status: int) -> str:
    """How a process with this exit status ended: a signal's name, or ``status N``."""
    if status < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-status).name
    return f"status {status}"


def last_words(text: str) -> str:
    """The line of a dead process's standard error that tells most: a failed check, or else the last."""
    plain = _COLOUR.sub("", text)
    lines = [_STAMP.sub("", line.strip()) for line in plain.splitlines() if line.strip()]
    # A warning of Python's is two lines, of which the second quotes the source.
    warned = {at + step for at, line in enumerate(lines) if _WARNING.search(line) for step in (0, 1)}
    lines = [line for at, line in enumerate(lines) if at not in warned]
    telling = [line for line in lines if "Check failed" in line or "Error" in line or "terminate called" in line]
    return (telling or [line for line in lines if not line.startswith(_NOISE)] or [""])[-1][:300]


def limit_memory(pair: Pair, more: int) -> None:
    """Let this process have `more` bytes of address space on top of what the frameworks have taken already."""
    pair.load()
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _limit(taken + more)


def _limit(wanted: int) -> None:
    """Let this process have so much address space, or as much as it may."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


@contextlib.contextmanager
def room_to_judge(memory: int | None) -> Iterator[None]:
    """While a trial is judged, which was done within `memory`, let this process have some times as much.

    To judge it takes a dozen replays in double precision, and asks of a framework only what the trial has asked.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if memory is None or soft == resource.RLIM_INFINITY:
        yield
        return
    _limit(soft + _TIMES_TO_JUDGE * memory)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
