"""What the trials of a test came to, in numbers."""

from __future__ import annotations

import collections
import dataclasses

from autotest.results.coverage import Coverage


@dataclasses.dataclass(slots=True)
class Tally:
    """What the trials of a test came to."""

    accepted: int = 0
    rejections: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: The line of the test at which each reason was met first.
    places: dict[str, str] = dataclasses.field(default_factory=dict)
    #: Of these, trials that the candidate has no name for, by reason.
    absent: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    compared: int = 0
    gradients: int = 0
    #: Trials whose mismatches proved to be rounding, where the test gave no tolerance of its own.
    cleared: int = 0
    #: How often each entry of the ledger was met.
    expected: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: By entry, how often others were met in trials that it was the first of.
    behind: dict[str, collections.Counter[str]] = dataclasses.field(default_factory=dict)
    #: How much was compared in graph mode, and how many trials were left out of it, or in part, by reason.
    graphed: int = 0
    left_out: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: What the operators of each accepted trial were given, where that was asked for.
    coverage: list[Coverage] = dataclasses.field(default_factory=list)
