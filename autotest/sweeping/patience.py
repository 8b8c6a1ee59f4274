"""How long a sweep waits for one sample: the whole deadline, but where waiting is known to be in vain."""

from __future__ import annotations

import collections
from typing import Final

from autotest.sweeping.units import Unit

#: Seconds that are waited at least, and how often as long as the slowest sample of an operator took.
_AT_LEAST: Final = 3.0
_TIMES: Final = 20.0
#: Samples of an operator, in all of its cells, that may be waited for in vain for the whole deadline.
_IN_VAIN: Final = 4


class Patience:
    """What is known of how long operators take. `deadline` is how many seconds without an answer are a hang.

    Where less than that is waited, what did not answer is no hang: it is told as left out, or judged elsewhere.
    """

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        #: operator, without its variant -> seconds of its slowest sample so far
        self._slowest: dict[str, float] = {}
        self._in_vain: collections.Counter[str] = collections.Counter()
        #: Operators that give no answer in a fork of a process that has run others.
        self._unforked: set[str] = set()

    def took(self, unit: Unit, seconds: float) -> None:
        """Note how long the slowest of some samples took."""
        name = unit.key.name
        self._slowest[name] = max(seconds, self._slowest.get(name, 0.0))

    def gave_up(self, unit: Unit, seconds: float) -> None:
        """Note that a sample of `unit` gave no answer in `seconds`."""
        if unit.in_forks:
            self._unforked.add(unit.key.name)
        elif seconds >= self.deadline:
            self._in_vain[unit.key.name] += 1

    def forks(self, unit: Unit) -> bool:
        """Whether forks may judge it, as far as is known."""
        return unit.key.name not in self._unforked

    def usual(self, unit: Unit) -> float:
        """Seconds within which a sample answers that behaves as others of its operator do."""
        return min(self.deadline, max(_AT_LEAST, _TIMES * self._slowest.get(unit.key.name, 0.0)))

    def of(self, unit: Unit) -> float:
        """Seconds after which no answer is expected any more.

        A sample that gives none in a fork is judged again without one. Where one beside it has been waited for in
        vain, or enough of its operator have, there is a finding already.
        """
        brief = unit.hung or unit.in_forks or self._in_vain[unit.key.name] >= _IN_VAIN
        return self.usual(unit) if brief else self.deadline
