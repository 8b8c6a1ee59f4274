"""The results of a test's trials, in numbers."""

from __future__ import annotations

import collections
import dataclasses

from autotest.results.coverage import Coverage


@dataclasses.dataclass(slots=True)
class Tally:
    """The results of a test's trials."""

    accepted: int = 0
    rejections: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Reason of a rejection -> the line of the test at which it occurred first.
    places: dict[str, str] = dataclasses.field(default_factory=dict)
    #: Reason -> number of rejected trials that the candidate has no name for.
    absent: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    compared: int = 0
    gradients: int = 0
    #: Reason -> number of trials whose forward was compared, and whose backward, which the trial adds, was refused.
    not_pushed: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Number of accepted trials that compared gradients, and in which the plan left out none.
    pushed: int = 0
    #: Number of trials whose mismatches are rounding errors, if the test set no tolerance of its own.
    cleared: int = 0
    #: Key of a ledger entry -> how often it was matched.
    expected: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Key of a ledger entry -> how often other entries were matched in trials named after it.
    behind: dict[str, collections.Counter[str]] = dataclasses.field(default_factory=dict)
    #: Number of values compared in graph mode; reason -> number of trials that were left out of it, completely or in
    #: part.
    graphed: int = 0
    left_out: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Inputs of the operators of each accepted trial, if the run collects them.
    coverage: list[Coverage] = dataclasses.field(default_factory=list)
