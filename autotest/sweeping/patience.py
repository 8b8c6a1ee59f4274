"""How long a sweep waits for one sample: the whole deadline, but where waiting is known to be in vain."""

from __future__ import annotations

import collections
from typing import Final

from autotest.sweeping.trail import Running
from autotest.sweeping.units import NO_ANSWER, Ended, Unit

#: Seconds that are waited at least, and how often as long as the slowest sample of an operator took.
_AT_LEAST: Final = 3.0
_TIMES: Final = 20.0
#: Samples of an operator, in all of its cells, that may be waited for in vain for the whole deadline.
_IN_VAIN: Final = 4
#: Seconds for making the next sample of a unit. The longest search takes some five on an idle machine.
_MAKING: Final = 30.0


class Patience:
    """What is known of how long operators take. `deadline` is how many seconds without an answer are a hang.

    Where less than that is waited, what did not answer is no hang: it is told as left out, or judged elsewhere.
    """

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        #: operator, without its variant -> seconds of its slowest sample so far
        self._slowest: dict[str, float] = {}
        self._in_vain: collections.Counter[str] = collections.Counter()
        #: Operators of which the making of a sample took too long.
        self._unmade: set[str] = set()
        #: Operators that give no answer in a fork of a process that has run others.
        self._unforked: set[str] = set()

    def took(self, unit: Unit, seconds: float) -> None:
        """Note how long the slowest of some samples took."""
        name = unit.key.name
        self._slowest[name] = max(seconds, self._slowest.get(name, 0.0))

    def gave_up_making(self, unit: Unit) -> None:
        """Note that the next sample of `unit` was not made in time."""
        self._unmade.add(unit.key.name)

    def making(self, unit: Unit) -> float:
        """Seconds within which the next sample of `unit` is made, if it ever is."""
        return _AT_LEAST if unit.key.name in self._unmade else _MAKING

    def told(self, unit: Unit, ended: Ended, seconds: float) -> Ended:
        """Take note of a sample of `unit` without an answer in `seconds`, and say what it is taken for."""
        if ended.running is Running.REFERENCE:
            return ended._replace(how=f"the reference gave {NO_ANSWER} in {seconds:.3g} s", early=True)
        if unit.in_forks:
            self._unforked.add(unit.key.name)
        elif seconds >= self.deadline:
            self._in_vain[unit.key.name] += 1
        if seconds >= self.deadline:
            return ended
        why = f"not waited for longer, since others of its operator gave none in {self.deadline:g} s"
        return ended._replace(how=f"{ended.how}: {why}", early=True)

    def forks(self, unit: Unit) -> bool:
        """Whether forks may judge it, as far as is known."""
        return unit.key.name not in self._unforked

    def usual(self, unit: Unit) -> float:
        """Seconds within which a sample answers that behaves as others of its operator do."""
        return min(self.deadline, max(_AT_LEAST, _TIMES * self._slowest.get(unit.key.name, 0.0)))

    def of(self, unit: Unit, running: Running) -> float:
        """Seconds after which no answer is expected any more of what is `running`.

        What the reference takes so long for says nothing of the candidate. A sample that gives none in a fork is judged
        again without one. Where one beside it has been waited for in vain, or enough of its operator have, there is a
        finding already.
        """
        found = any(ended.hung and ended.running is not Running.REFERENCE for ended in unit.ended.values())
        in_vain = found or self._in_vain[unit.key.name] >= _IN_VAIN
        brief = running is Running.REFERENCE or unit.in_forks or in_vain
        return self.usual(unit) if brief else self.deadline
