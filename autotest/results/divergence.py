"""The exception of a failed test, with the report as text and the finding as data."""

from __future__ import annotations

from autotest.base.errors import AutotestError
from autotest.results.finding import Finding


class Divergence(AutotestError, AssertionError):
    """The two frameworks disagree. Raised by a test that fails for this reason; its text is the report.

    Attributes:
        finding: the finding as data; None outside trials, where no diagnosis is made.
        place: the folder in which the finding is stored; empty if it is not stored.
        others: the divergences of the other candidates of the run.
    """

    def __init__(self, text: str, finding: Finding | None = None, place: str = "") -> None:
        super().__init__(text)
        self.finding: Finding | None = finding
        self.place = place
        self.others: tuple[Divergence, ...] = ()
