"""Which calls killed too many workers to be worth another one.

A call that has killed once is looked at from then on: where it kills again, it is set aside with the arguments that
matter (`autotest.campaigns.signatures`), in that test at once, and everywhere when it did so in two tests. It is set
aside altogether in a test in which it killed `allowed` workers that did not tell its arguments, or twice as many (and
four at least) with others each; and everywhere when that happened in two tests and it never came back in any.
"""

from __future__ import annotations

import collections

from autotest.results.progress import CampaignProgress

#: With how many different arguments a call may kill in a test, however few deaths are allowed.
_DIFFERENT = 4


class DeadlyCalls:
    """The deaths of one campaign, which are counted in its `CampaignProgress`."""

    def __init__(self, progress: CampaignProgress, allowed: int) -> None:
        self._progress = progress
        self._allowed = allowed

    def killed(self, test: str, call: str, signature: str = "") -> None:
        """A trial of `test` died in `call`, named by `autotest.results.tasks.fatal_call`."""
        self._progress.deaths[test, call] += 1
        if signature:
            self._progress.fatal_arguments.setdefault((test, call), set()).add(signature)
        everywhere = self._everywhere()
        if call in everywhere:
            self._progress.set_aside.add(call)
        elif (test, call) in self._too_often():
            self._progress.set_aside.add(f"{call} in {test}")
        elif signature:
            everywhere_so = len(self._killed_in()[signature]) > 1
            self._progress.set_aside.add(signature if everywhere_so else f"{signature} in {test}")

    def set_aside(self, test: str) -> frozenset[str]:
        """The calls that `test` is not to make any more, some of them with the arguments that matter."""
        calls = {call for name, call in self._too_often() if name == test} | self._everywhere()
        return frozenset(
            calls | {known for known, tests in self._killed_in().items() if test in tests or len(tests) > 1}
        )

    def watched(self) -> frozenset[str]:
        """The calls whose arguments are to be known before they are made: those that have killed."""
        return frozenset(call for _, call in self._progress.deaths)

    def _killed_in(self) -> dict[str, set[str]]:
        """The tests that a call with such arguments killed in."""
        found: dict[str, set[str]] = {}
        for (test, _), signatures in self._progress.fatal_arguments.items():
            for signature in signatures:
                found.setdefault(signature, set()).add(test)
        return found

    def _too_often(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for place, times in self._progress.deaths.items():
            told = len(self._progress.fatal_arguments.get(place, ()))
            if times - told >= self._allowed or told >= max(_DIFFERENT, 2 * self._allowed):
                found.append(place)
        return found

    def _everywhere(self) -> set[str]:
        tests = collections.Counter(call for _, call in self._too_often())
        lives = {call for call in tests if any(call in test.operators for test in self._progress.tests)}
        return {call for call, times in tests.items() if times > 1} - lives
