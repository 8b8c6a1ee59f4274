"""Decides which calls are set aside because they have killed too many workers.

After its first death, the arguments of a call are recorded (`autotest.campaigns.signatures`). If it kills again, it is
set aside with these arguments: at once in that test, and in all tests when it has done so in two of them.

A call is set aside in a test whatever its arguments if it killed `allowed` workers there without new arguments being
recorded, or if it killed with twice as many (at least four) different arguments. It is set aside in all tests if that
happened in two tests and the call never returned in any.

A backward pass is set aside only in the test in which it killed. It is named after the last operator before it, while
any operator that it goes back through may have killed.
"""

from __future__ import annotations

import collections

from autotest.results.progress import CampaignProgress
from autotest.results.tasks import is_fatal_backward

#: How many different arguments a call may kill with in a test, even if fewer deaths are allowed.
_DIFFERENT = 4


class DeadlyCalls:
    """The deaths of one campaign; they are counted in its `CampaignProgress`."""

    def __init__(self, progress: CampaignProgress, allowed: int) -> None:
        self._progress = progress
        self._allowed = allowed

    def killed(self, test: str, call: str, signature: str = "") -> None:
        """Record that a trial of `test` died in `call`, named as by `autotest.results.tasks.fatal_call`."""
        self._progress.deaths[test, call] += 1
        if signature:
            self._progress.fatal_arguments.setdefault((test, call), set()).add(signature)
        everywhere = self._everywhere()
        if call in everywhere:
            self._progress.set_aside.add(call)
        elif (test, call) in self._too_often():
            self._progress.set_aside.add(f"{call} in {test}")
        elif signature:
            everywhere_so = _kills_everywhere(signature, self._tests_by_signature()[signature])
            self._progress.set_aside.add(signature if everywhere_so else f"{signature} in {test}")

    def set_aside(self, test: str) -> frozenset[str]:
        """Return the calls that `test` must not make any more, some of them only with certain arguments."""
        calls = {call for name, call in self._too_often() if name == test} | self._everywhere()
        by_signature = self._tests_by_signature().items()
        return frozenset(
            calls | {known for known, tests in by_signature if test in tests or _kills_everywhere(known, tests)}
        )

    def watched(self) -> frozenset[str]:
        """Return the calls whose arguments are recorded before they are made: those that have killed a process."""
        return frozenset(call for _, call in self._progress.deaths)

    def _tests_by_signature(self) -> dict[str, set[str]]:
        """Return, for each signature, the tests in which a call with this signature killed a process."""
        found: dict[str, set[str]] = {}
        for (test, _), signatures in self._progress.fatal_arguments.items():
            for signature in signatures:
                found.setdefault(signature, set()).add(test)
        return found

    def _too_often(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        for place, times in self._progress.deaths.items():
            distinct = len(self._progress.fatal_arguments.get(place, ()))
            if times - distinct >= self._allowed or distinct >= max(_DIFFERENT, 2 * self._allowed):
                found.append(place)
        return found

    def _everywhere(self) -> set[str]:
        tests = collections.Counter(call for _, call in self._too_often())
        lives = {call for call in tests if any(call in test.operators for test in self._progress.tests)}
        return {call for call, times in tests.items() if times > 1 and not is_fatal_backward(call)} - lives


def _kills_everywhere(signature: str, tests: set[str]) -> bool:
    """Return whether a call with this signature, which killed in `tests`, is set aside in all tests."""
    return len(tests) > 1 and not is_fatal_backward(signature)
