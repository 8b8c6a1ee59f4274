"""What the operators of a campaign were not given yet, and which trial of a test is planned to give it to them."""

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

#: Trials of a test after which what it gives its operators is not counted any more: what it can give, it gave.
COUNTED: Final = 100
#: So many trials of one test are taken out of turn for the same gap; what they do not give, the test rules out.
ATTEMPTS: Final = 2
#: How many of a test's next trials are looked through.
WINDOW: Final = 20
#: Gap -> the factor of the plan, and its levels, that close it where the test leaves them open.
_CLOSED_BY: Final = MappingProxyType(
    {
        "negative": ("values", ("signed", "wide")),
        "positive": ("values", ("unit", "signed")),
        "zero": ("values", ("zeros",)),
        "special": ("values", ("nan", "infinite", "tiny", "huge")),
        "negative whole": ("values", ("signed", "wide")),
        "past a block": ("sizes", ("nine", "seventeen", "long", "large")),
        "large": ("sizes", ("long", "large")),
        "not contiguous": ("layout", ("transposed", "strided", "offset", "expanded")),
    }
)


class Gaps:
    """The account of what operators were given, and what is done about its gaps."""

    def __init__(self, covered: Coverage) -> None:
        """`covered` is the account, which is added to."""
        self._covered = covered
        self._operators: dict[Where, frozenset[str]] = {}
        self._sought: collections.Counter[tuple[Where, str]] = collections.Counter()

    def take(self, test: TestProgress, covered: Coverage) -> None:
        """Enter what some trials of `test` gave; a test that closes a gap is one that finds something."""
        before = self._lacking(covered)
        add(self._covered, covered)
        if before - self._lacking(covered):
            test.unrewarded = 0
        self._operators[test.where] = self._operators.get(test.where, frozenset()) | covered.keys()

    def closed_by(self, where: Where, waiting: Iterable[range]) -> int | None:
        """The place, in all of `waiting`, of the trial of the test at `where` that may close most gaps, if one may."""
        missing = {
            gap for _, gap in self._lacking(self._operators.get(where, ())) if self._sought[where, gap] < ATTEMPTS
        }
        if not missing:
            return None
        closing = [[gap for gap in missing if closes_gap(index, gap)] for index in itertools.chain(*waiting)]
        best = max(closing, key=len, default=[])
        self._sought.update((where, gap) for gap in best)
        return closing.index(best) if best else None

    def _lacking(self, operators: Iterable[str]) -> set[tuple[str, str]]:
        nothing: Mapping[str, int] = {}
        return {(name, gap) for name in operators for gap in lacking(self._covered.get(name, nothing))}


def closes_gap(index: int, gap: str) -> bool:
    """Whether trial `index` of a test that leaves everything open is planned to be without this gap."""
    factor, levels = _CLOSED_BY[gap]
    return row(index).level(factor) in levels


def taken(waiting: list[range], place: int) -> range:
    """The trial at `place` of all that are `waiting`, which it is taken out of."""
    for at, part in enumerate(waiting):
        if place < len(part):
            waiting[at : at + 1] = [rest for rest in (part[:place], part[place + 1 :]) if rest]
            return part[place : place + 1]
        place -= len(part)
    raise IndexError(f"fewer than {place} more trials are waiting")


__all__ = ["COUNTED", "WINDOW", "Gaps", "closes_gap", "taken"]
