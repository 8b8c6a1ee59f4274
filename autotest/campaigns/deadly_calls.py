"""Which calls killed too many workers to be worth another one.

A call is set aside in a test in which it killed `allowed` workers, and everywhere when that happened in two tests
and it never came back in any: vectors by matrices may kill where matrices by matrices are well.
"""

from __future__ import annotations

import collections

from autotest.results.progress import Standing


class Killers:
    """The deaths of one campaign, which are counted in its `Standing`."""

    def __init__(self, standing: Standing, allowed: int) -> None:
        self._standing = standing
        self._allowed = allowed

    def killed(self, test: str, call: str) -> None:
        """A trial of `test` died in `call`, named by `autotest.results.tasks.fatal_call`."""
        self._standing.deaths[test, call] += 1
        everywhere = self._everywhere()
        if call in everywhere:
            self._standing.set_aside.add(call)
        elif self._standing.deaths[test, call] >= self._allowed:
            self._standing.set_aside.add(f"{call} in {test}")

    def set_aside(self, test: str) -> frozenset[str]:
        """The calls that `test` is not to make any more."""
        return frozenset({call for name, call in self._too_often() if name == test} | self._everywhere())

    def _too_often(self) -> list[tuple[str, str]]:
        return [place for place, times in self._standing.deaths.items() if times >= self._allowed]

    def _everywhere(self) -> set[str]:
        tests = collections.Counter(call for _, call in self._too_often())
        lives = {call for call in tests if any(call in test.operators for test in self._standing.tests)}
        return {call for call, times in tests.items() if times > 1} - lives
