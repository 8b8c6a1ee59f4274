"""What a failed test raises: its text is the report, and the finding is there as data."""

from __future__ import annotations

from autotest.base.errors import AutotestError
from autotest.results.finding import Finding


class Divergence(AutotestError, AssertionError):
    """The two frameworks disagreed.

    Attributes:
        finding: everything that is known of it as data; None outside of any trial, where nothing is diagnosed.
        place: the folder in which it is kept; empty where it is kept nowhere.
        others: the divergences of the other candidates of the run.
    """

    def __init__(self, text: str, finding: Finding | None = None, place: str = "") -> None:
        super().__init__(text)
        self.finding: Finding | None = finding
        self.place = place
        self.others: tuple[Divergence, ...] = ()
