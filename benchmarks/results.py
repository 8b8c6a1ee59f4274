"""Measurements as data, and the goals that they are compared with."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from typing import Any

from benchmarks.interleave import Spread


@dataclasses.dataclass(frozen=True)
class Row:
    """One measurement."""

    section: str
    name: str
    spread: Spread
    #: "x" for a ratio, else a unit such as "us".
    unit: str
    #: The bound for `spread.median`, or None if there is no goal; and whether it is an upper bound.
    goal: float | None = None
    at_most: bool = True
    #: Seconds per trial of each contender, if there are several.
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def holds(self) -> bool | None:
        if self.goal is None:
            return None
        return self.spread.median <= self.goal if self.at_most else self.spread.median >= self.goal

    def data(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "holds": self.holds}


def median_row(section: str, name: str, rows: Sequence[Row], goal: float) -> Row:
    """Return a row for the median of the medians of `rows`, which should be at least `goal`."""
    medians = [row.spread.median for row in rows]
    spread = Spread(min(medians), statistics.median(medians), max(medians))
    return Row(section, name, spread, "x", goal, at_most=False)
