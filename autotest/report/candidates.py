"""Formats the results of a test with several candidates: a line for each, then the reports of those that differ."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from autotest.base.plural import several
from autotest.report.commands import reproduce

#: Maximum columns for the text about one candidate.
_WIDTH = 160


class CandidateResult(NamedTuple):
    """The outcome of the trials of one candidate."""

    name: str
    accepted: int
    #: Trials that need something the candidate does not have, and trials that differ as the ledger expects.
    absent: int
    expected: int
    #: Its failure, of which the beginning is shown; empty if there is none.
    against: str = ""
    #: The folder of its finding; empty if there is none.
    place: str = ""


def lines(results: Sequence[CandidateResult]) -> list[str]:
    """Return a heading and one line for each candidate."""
    width = max(len(one.name) for one in results)
    return ["Candidates:", *(f"  {one.name.ljust(width)}  {_result_in_words(one)}" for one in results)]


def _result_in_words(result: CandidateResult) -> str:
    if result.against:
        where = f"; {reproduce(result.place)}" if result.place else ""
        return f"{textwrap.shorten(result.against, _WIDTH, placeholder='...')}{where}"
    parts = [f"agrees in {several(result.accepted, 'trial')}"]
    parts += [f"{result.expected} differ as its ledger expects"] if result.expected else []
    parts += [f"{result.absent} need what it does not have"] if result.absent else []
    return ", ".join(parts)


def report(table: Sequence[str], headline: str, divergences: Sequence[str]) -> str:
    """Return the text of a test that some candidates fail.

    Args:
        table: the lines of all candidates, below a heading.
        headline: the headline of the first divergence.
        divergences: the reports of the candidates that differ.
    """
    count, total = len(divergences), len(table) - 1
    differ = f"{count} of {total} candidates {'differ' if count > 1 else 'differs'}"
    rule = "-" * 80
    return "\n".join([f"{differ}: {headline}", "", *table, "", f"\n\n{rule}\n".join(divergences)])
