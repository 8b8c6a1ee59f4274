"""One line for each candidate of a test, and the reports of those that differ under each other."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from autotest.report.commands import reproduce
from autotest.report.plural import several

#: Columns of what is said of one candidate.
_WIDTH = 160


class CandidateResult(NamedTuple):
    """What the trials of one candidate came to."""

    name: str
    accepted: int
    #: Trials that need something which the candidate does not have, and trials that differ as the ledger expects.
    absent: int
    expected: int
    #: What is against it, of which the beginning is shown; empty where nothing is.
    against: str = ""
    #: The folder of its finding; empty where it has none.
    place: str = ""


def lines(results: Sequence[CandidateResult]) -> list[str]:
    """One line for each candidate."""
    width = max(len(one.name) for one in results)
    return ["Candidates:", *(f"  {one.name.ljust(width)}  {_said(one)}" for one in results)]


def _said(result: CandidateResult) -> str:
    if result.against:
        where = f"; {reproduce(result.place)}" if result.place else ""
        return f"{textwrap.shorten(result.against, _WIDTH, placeholder='...')}{where}"
    told = [f"agrees in {several(result.accepted, 'trial')}"]
    told += [f"{result.expected} differ as its ledger expects"] if result.expected else []
    told += [f"{result.absent} need what it does not have"] if result.absent else []
    return ", ".join(told)


def report(table: Sequence[str], headline: str, divergences: Sequence[str]) -> str:
    """The text of a test that some candidates fail: how many, and the first one's `headline`; the line of each; then
    the report of each that differs."""
    count, total = len(divergences), len(table) - 1
    differ = f"{count} of {total} candidates {'differ' if count > 1 else 'differs'}"
    rule = "-" * 80
    return "\n".join([f"{differ}: {headline}", "", *table, "", f"\n\n{rule}\n".join(divergences)])
