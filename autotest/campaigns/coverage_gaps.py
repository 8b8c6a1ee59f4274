"""Finds the kinds of input that operators were not given yet, and the trials that are planned to contain them."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from autotest.results.coverage import Coverage, add, lacking
from autotest.results.progress import TestProgress
from autotest.results.tasks import Where
from generators.plan import row

#: Number of trials of a test after which its operators' inputs are no longer counted: it has shown what it can give.
COUNTED: Final = 100
#: How many trials of one test are run out of order for the same gap. If they do not close it, the test cannot.
ATTEMPTS: Final = 2
#: How many of a test's next trials are searched for one that closes a gap.
WINDOW: Final = 20
#: For each gap, the factor of the plan and the levels of it that close the gap, if the test leaves that factor open.
_CLOSED_BY: Final = MappingProxyType(
    {
        "negative": ("values", ("signed", "wide")),
        "positive": ("values", ("unit", "signed")),
        "zero": ("values", ("zeros",)),
        "not finite": ("values", ("nan", "infinite")),
        "negative whole": ("values", ("signed", "wide")),
        "past a block": ("sizes", ("nine", "seventeen", "long", "large")),
        "large": ("sizes", ("long", "large")),
        "not contiguous": ("layout", ("transposed", "strided", "offset", "expanded")),
    }
)


class CoverageGaps:
    """The inputs that operators were given, and the choice of trials that close the gaps among them."""

    def __init__(self, covered: Coverage) -> None:
        """Start from the counts in `covered`, and add to them in place."""
        self._covered = covered
        self._operators: dict[Where, frozenset[str]] = {}
        self._attempts: collections.Counter[tuple[Where, str]] = collections.Counter()

    def take(self, test: TestProgress, covered: Coverage) -> None:
        """Add the inputs that some trials of `test` gave. A test that closes a gap counts as finding something new."""
        before = self._lacking(covered)
        add(self._covered, covered)
        if before - self._lacking(covered):
            test.unrewarded = 0
        self._operators[test.where] = self._operators.get(test.where, frozenset()) | covered.keys()

    def best_trial(self, where: Where, waiting: Iterable[range]) -> int | None:
        """Return the position of the trial that may close most gaps of the operators of the test at `where`.

        The position counts through all ranges of `waiting`. Returns None if no trial may close a gap.
        """
        missing = {
            gap for _, gap in self._lacking(self._operators.get(where, ())) if self._attempts[where, gap] < ATTEMPTS
        }
        if not missing:
            return None
        closing = [[gap for gap in missing if closes_gap(index, gap)] for index in itertools.chain(*waiting)]
        best = max(closing, key=len, default=[])
        self._attempts.update((where, gap) for gap in best)
        return closing.index(best) if best else None

    def _lacking(self, operators: Iterable[str]) -> set[tuple[str, str]]:
        nothing: Mapping[str, int] = {}
        return {(name, gap) for name in operators for gap in lacking(name, self._covered.get(name, nothing))}


def closes_gap(index: int, gap: str) -> bool:
    """Return whether trial `index` of a test that leaves every factor open is planned to close this gap."""
    factor, levels = _CLOSED_BY[gap]
    return row(index).level(factor) in levels


def pop_trial(waiting: list[range], place: int) -> range:
    """Remove the trial at position `place` from `waiting`, in place, and return it."""
    for at, part in enumerate(waiting):
        if place < len(part):
            waiting[at : at + 1] = [rest for rest in (part[:place], part[place + 1 :]) if rest]
            return part[place : place + 1]
        place -= len(part)
    raise IndexError(f"fewer than {place} more trials are waiting")
