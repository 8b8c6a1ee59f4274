"""The results of a test's trials, in numbers."""

from __future__ import annotations

import collections
import dataclasses

from autotest.comparison.rejection import absences, what_is_lacking
from autotest.results.coverage import Coverage
from autotest.results.gradient_tally import GradientTally
from autotest.results.zeros_tally import ZerosTally


@dataclasses.dataclass(slots=True)
class Tally:
    """The results of a test's trials."""

    accepted: int = 0
    rejections: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    #: Reason of a rejection -> the line of the test at which it occurred first.
    places: dict[str, str] = dataclasses.field(default_factory=dict)
    compared: int = 0
    gradients: int = 0
    gradient_tally: GradientTally = dataclasses.field(default_factory=GradientTally)
    #: The comparisons that zeros would have passed, if the test gives a wide tolerance.
    zeros: ZerosTally = dataclasses.field(default_factory=ZerosTally)
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

    @property
    def absent(self) -> collections.Counter[str]:
        """What the candidate lacks -> number of rejected trials that need it."""
        return absences(self.rejections)

    @property
    def counted(self) -> int:
        """Number of trials that count towards those a test needs: also those that need what the candidate lacks."""
        return self.accepted + (self.absent.total() if self.rejections else 0)

    @property
    def lacking(self) -> str:
        """What the candidate lacks, if this skips the test; else empty."""
        return what_is_lacking(self.accepted, self.rejections)
