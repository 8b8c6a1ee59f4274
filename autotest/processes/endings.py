"""How a process ended and what it printed last; and limits on the memory of this process."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from autotest.base.signals import signal_name
from autotest.frameworks import Pair

#: Beginnings of lines that frameworks print when they are loaded on a machine without the hardware they look for.
_NOISE = ("libibverbs", "cuda_device_", "@", "*", "File ")
#: The prefix that glog writes before each line: severity, date, time and thread.
_STAMP = re.compile(r"^[IWEF]\d{8} [\d:.]+ +\d+ ")
#: How many times the memory of a trial is added to the limit while the trial is judged.
_TIMES_TO_JUDGE = 3
#: Escape sequences of terminal colours.
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
#: ``file.py:12: UserWarning: text``.
_WARNING = re.compile(r":\d+: \w*Warning: ")


@dataclasses.dataclass(frozen=True, slots=True)
class ProcessDeath:
    """The end of a process that should have continued."""

    symptom: Literal["crash", "hang", "out of memory"]
    #: A signal's name, ``status 3``, or ``no answer in 20 s``.
    how: str


def killed_for_memory(counters: Path = Path("/proc/vmstat")) -> int:
    """Return how many processes the kernel of this machine has killed because of low memory; 0 if that is unknown."""
    with contextlib.suppress(OSError, ValueError):
        counted = dict(line.split(maxsplit=1) for line in counters.read_text().splitlines())
        return int(counted.get("oom_kill", 0))
    return 0


def death_from_status(status: int, killed_before: int | None = None) -> ProcessDeath:
    """Return the meaning of the exit status of a process that ended before its deadline.

    `killed_before` is the value of `killed_for_memory` before the process was started.
    """
    if status != -signal.SIGKILL:
        return ProcessDeath("crash", describe(status))
    # This library does not send SIGKILL to a process before its deadline.
    if killed_before is not None and killed_for_memory() > killed_before:
        return ProcessDeath("out of memory", describe(status))
    return ProcessDeath("crash", f"{describe(status)}: out of memory, or somebody's kill -9")


class TimeoutEstimate:
    """Durations of programs of one kind on this machine; shared by all code that runs them."""

    #: The least number of seconds to wait, and the factor by which the longest run may be exceeded.
    LEAST, TIMES = 2.0, 20.0

    def __init__(self) -> None:
        self._longest = 0.0

    def record(self, seconds: float) -> None:
        """Record that a program ended after this many seconds."""
        self._longest = max(self._longest, seconds)

    def timeout(self, expected: float, most: float) -> float:
        """Return the seconds after which a program that should take about `expected` seconds hangs; at most `most`."""
        return min(most, max(self.LEAST, self.TIMES * max(expected, self._longest)))


def timeout_death(seconds: float) -> ProcessDeath:
    """Return the description of a process that sent nothing for `seconds`."""
    return ProcessDeath("hang", f"no answer in {seconds:g} s")


def describe(status: int) -> str:
    """Return how a process with this exit status ended: a signal's name, or ``status N``."""
    return (signal_name(-status) if status < 0 else None) or f"status {status}"


def last_words(text: str) -> str:
    """Return the most informative line of a dead process's standard error: a failed check or error, or the last."""
    plain = _COLOUR.sub("", text)
    lines = [_STAMP.sub("", line.strip()) for line in plain.splitlines() if line.strip()]
    # A warning of Python has two lines; the second one quotes the source.
    warned = {at + step for at, line in enumerate(lines) if _WARNING.search(line) for step in (0, 1)}
    lines = [line for at, line in enumerate(lines) if at not in warned]
    telling = [line for line in lines if "Check failed" in line or "Error" in line or "terminate called" in line]
    return (telling or [line for line in lines if not line.startswith(_NOISE)] or [""])[-1][:300]


def limit_memory(pair: Pair, more: int) -> None:
    """Limit the address space of this process to `more` bytes above what the frameworks use already."""
    pair.load()
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _limit(taken + more)


def _limit(wanted: int) -> None:
    """Limit the address space of this process to `wanted` bytes, or to the hard limit if that is less."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def double_memory_limit() -> None:
    """Double the limit on address space of this process, if there is one.

    A fork of a process that has used up its own memory, such as by what it compiled, has as much for its own work.
    """
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    if soft != resource.RLIM_INFINITY:
        _limit(2 * soft)


@contextlib.contextmanager
def room_to_judge(memory: int | None) -> Iterator[None]:
    """Raise the limit on address space while a trial is judged that ran within `memory` bytes.

    Judging takes a dozen replays in double precision, and calls only what the trial has already called.
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
