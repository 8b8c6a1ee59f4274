"""The levels that the plan gives to the factors of one trial."""

from __future__ import annotations

from typing import Final

from generators.levels import BLOCK, LEVELS, NAMES, PLACES, PLAIN_ROWS, SPECIAL, THOROUGH, THOROUGHLY, USUAL, Row
from generators.plan import row, turns
from generators.related_numbers import NOT_FINITE, RELATED
from generators.source import Source, trial_of

#: Levels of sizes that give an array many elements.
HUGE_SIZES: Final = frozenset(("long", "large"))
_HUGE = frozenset(LEVELS[PLACES["sizes"]].index(level) for level in HUGE_SIZES)
#: Levels of special numbers; ``zeros`` is one, because it has -0.0.
_SPECIAL = frozenset((*SPECIAL, "zeros"))
#: Levels of numbers that reveal their faults only if several arrays of a trial have them.
_TOGETHER = RELATED | NOT_FINITE | {"zeros", "huge"}
#: The levels and turns of the layout in which the second array of a trial has the layout of the first. A matrix product
#: may have a path of its own for two transposed operands, and a sum for two with the same strides and the same shape.
_SAME_LAYOUT = frozenset(
    (LEVELS[PLACES["layout"]].index(level), turn)
    for level, turn in (("transposed", 0), ("transposed", 2), ("expanded", 0))
)
#: The place in the block of the trial whose second array alone is large: many indices, or a wide table, beside a first
#: array that leaves sizes open, too.
_LARGE_SECOND = (7, 1)
#: The levels and turns of sizes at which the second array of a trial has the level of the first, too. A matrix product
#: is computed by another function if all of its sizes are long, and by one for two vectors if its result is one number.
_SAME_SIZES = frozenset((("seventeen", 1), ("ones", 0)))


class TrialFeatures:
    """The row of the plan of one trial, and what the arrays of the trial make of it.

    Attributes:
        source: makes and logs the choices of the trial.
        index: the index of the trial in its test.
        row: the levels of the trial's first array.
    """

    __slots__ = ("_offered", "_turns", "index", "row", "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.index = trial_of(source.seed)
        self.row: Row = row(self.index)
        self._turns = turns(self.index)
        #: The number of available levels of each factor.
        self._offered = USUAL if self.index < THOROUGH else THOROUGHLY

    def level(self, factor: str, number: int = 0) -> str:
        """Return the level of `factor` for array `number` of this trial, and log it as a choice."""
        source, position = self.source, PLACES[factor]
        levels = LEVELS[position]
        planned = self._planned(position, number) if number else self.row[position]
        chosen = source.planned(planned, self._offered[position])
        if not source.special_values and levels[chosen] in _SPECIAL:
            chosen = levels.index("signed")
        source.features.setdefault(factor, chosen)
        return levels[chosen]

    def _planned(self, position: int, number: int) -> int:
        own = self.row[position]
        factor = NAMES[position]
        if self.index < PLAIN_ROWS or factor in ("dtype", "rank", "partner"):
            return own
        # The arrays of a trial differ in features that they need not have in common, but two of three keep the level of
        # values.
        block, place = divmod(self.index, BLOCK)
        other = row(block * BLOCK + (place + 7 * number) % BLOCK)[position]
        if factor == "values":
            kept = LEVELS[position][own] in _TOGETHER or LEVELS[position][other] in _SPECIAL
            return own if kept or (self.index + number) % 3 else other
        if factor == "sizes" and LEVELS[position][other] in HUGE_SIZES:
            return other if (place, number) == _LARGE_SECOND else 0
        if factor == "sizes" and number == 1 and (LEVELS[position][own], self.turn(factor)) in _SAME_SIZES:
            return own
        if factor == "layout" and number == 1 and (own, self.turn(factor)) in _SAME_LAYOUT:
            return own
        return other

    def turn(self, factor: str) -> int:
        """Return the number of earlier trials of the block that have the same level of `factor`."""
        return self._turns[PLACES[factor]]

    @property
    def has_huge_sizes(self) -> bool:
        """Whether the first array has many elements if the test leaves sizes open."""
        return self.row.sizes in _HUGE


def is_large(source: Source) -> bool:
    """Return whether the plan chose large sizes in the trial of `source`, because the test leaves sizes open."""
    return source.features.get("sizes") in _HUGE
