"""Decides how long a sweep waits for one sample: the deadline, or less if a longer wait is known to be useless."""

from __future__ import annotations

import collections
from typing import Final

from autotest.sweeping.units import NO_ANSWER, Ended, Unit
from autotest.sweeping.worker_position import Running

#: Minimum wait in seconds, and minimum multiple of the time of the operator's slowest sample.
_AT_LEAST: Final = 3.0
_TIMES: Final = 20.0
#: Samples of an operator, over all of its cells, that may use up the whole deadline.
_MAX_HANGS: Final = 4
#: Seconds for generating the next sample of a unit. The longest search takes about five on an idle machine.
_GENERATION_SECONDS: Final = 30.0


class TimeoutPolicy:
    """Knows how long the samples of each operator take.

    If the wait was shorter than the deadline, a missing answer is not a hang: the sample is reported as left out, or
    judged in another process.

    Args:
        deadline: seconds without an answer after which a sample counts as a hang.
    """

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        #: operator, without its variant -> seconds of its slowest sample so far
        self._slowest: dict[str, float] = {}
        self._hangs: collections.Counter[str] = collections.Counter()
        #: Operators for which generating a sample took too long.
        self._ungenerated: set[str] = set()
        #: Operators that hang in a fork of a process that has run other samples.
        self._unforked: set[str] = set()

    def record_duration(self, unit: Unit, seconds: float) -> None:
        """Record how long the slowest of some samples took."""
        name = unit.key.name
        self._slowest[name] = max(seconds, self._slowest.get(name, 0.0))

    def record_slow_generation(self, unit: Unit) -> None:
        """Record that the next sample of `unit` was not generated in time."""
        self._ungenerated.add(unit.key.name)

    def generation_timeout(self, unit: Unit) -> float:
        """Return the seconds that generating the next sample of `unit` may take."""
        return _AT_LEAST if unit.key.name in self._ungenerated else _GENERATION_SECONDS

    def record_timeout(self, unit: Unit, ended: Ended, seconds: float) -> Ended:
        """Record that a sample of `unit` did not answer within `seconds`; return how it is to be counted."""
        if ended.running is Running.REFERENCE:
            return ended._replace(how=f"the reference gave {NO_ANSWER} in {seconds:.3g} s", early=True)
        if unit.in_forks:
            self._unforked.add(unit.key.name)
        elif seconds >= self.deadline:
            self._hangs[unit.key.name] += 1
        if seconds >= self.deadline:
            return ended
        why = f"stopped early, because other samples of this operator gave no answer in {self.deadline:g} s"
        return ended._replace(how=f"{ended.how}: {why}", early=True)

    def forks(self, unit: Unit) -> bool:
        """Whether forks may judge `unit`."""
        return unit.key.name not in self._unforked

    def usual_duration(self, unit: Unit) -> float:
        """Return the seconds within which a sample usually answers, judged by others of its operator."""
        return min(self.deadline, max(_AT_LEAST, _TIMES * self._slowest.get(unit.key.name, 0.0)))

    def step_timeout(self, unit: Unit, running: Running) -> float:
        """Return the seconds to wait for the current step, `running`, of a sample.

        The wait is short in three cases. A slow reference says nothing about the candidate. A sample that hangs in a
        fork is judged again without one. If another sample of the unit, or enough samples of the operator, have hung,
        there is a finding already.
        """
        found = any(ended.hung and ended.running is not Running.REFERENCE for ended in unit.ended.values())
        enough_hangs = found or self._hangs[unit.key.name] >= _MAX_HANGS
        brief = running is Running.REFERENCE or unit.in_forks or enough_hangs
        return self.usual_duration(unit) if brief else self.deadline
