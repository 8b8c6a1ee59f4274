"""The results of the autotests of one pytest item, as plain data that its report carries to the session's summary."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from autotest.base.errors import FrameworkMissing, UsageError
from autotest.base.versions import installed
from autotest.report.commands import reproduce
from autotest.report.session import CandidateSummary, FindingSummary, TestSummary, empty_summary
from autotest.results.coverage import Coverage, greatest, merged
from autotest.results.divergence import Divergence
from autotest.results.finding import Finding
from autotest.running.tally import Tally
from autotest.trials.context import RunContext

#: A test that ran: its id, its context and its results.
RanTest: TypeAlias = tuple[str, RunContext, Tally]


def of_item(tallies: Sequence[RanTest], *, isolated: bool) -> TestSummary:
    """Return the sum of the results of the autotests that one item called, which is usually one.

    With `isolated` trials, versions are read from the installed packages, because importing a framework here must be
    avoided.
    """
    name, context, _ = tallies[0]
    rejections: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    covered: dict[str, list[Coverage]] = {}
    for _, own, tally in tallies:
        covered.setdefault(own.pair.candidate.name, []).extend(tally.coverage)
        rejections.update(tally.rejections)
        expected.update(tally.expected)
        left_out.update(tally.left_out)
    versions = {}
    with contextlib.suppress(FrameworkMissing, UsageError):  # the tests have said so
        sides = (context.pair.reference, *(own.pair.candidate for _, own, _ in tallies))
        versions = {side.name: installed(side.name) if isolated else side.version for side in sides}
    by_candidate: dict[str, CandidateSummary] = {}
    for _, own, tally in tallies:
        side = own.pair.candidate
        sums = by_candidate.setdefault(
            side.name, {"accepted": 0, "absent": 0, "found": "", "gradients": side.has_gradients}
        )
        sums["accepted"] += tally.accepted
        sums["absent"] += tally.absent.total()
    return {
        **empty_summary(name, context.options.seed, versions),
        "accepted": sum(tally.accepted for _, _, tally in tallies),
        "rejections": dict(rejections),
        "expected": dict(expected),
        "left_out": dict(left_out),
        "cleared": sum(tally.cleared for _, _, tally in tallies),
        "covered": greatest(map(merged, covered.values())),
        "candidates": by_candidate,
    }


def note_end(summary: TestSummary, error: BaseException | None, *, failed: bool) -> None:
    """Add to `summary` the findings in `error`, which the item raised, if it did.

    `failed` is whether pytest itself reports the item as failed or skipped.
    """
    summary["told"] = failed
    # One finding of each candidate that differs.
    divergences = (error, *error.others) if isinstance(error, Divergence) else ()
    found = [(one.finding, one.place) for one in divergences if one.finding is not None]
    summary["found"] = [_in_short(finding, place) for finding, place in found]
    for finding, place in found:
        if finding.sides[1] in summary["candidates"]:
            summary["candidates"][finding.sides[1]]["found"] = place


def of_death(finding: Finding, place: str) -> TestSummary:
    """Return the summary of an item that killed its process, by the `finding` of that death, stored at `place`."""
    summary = empty_summary(finding.test, finding.base_seed, finding.versions)
    return {**summary, "found": [_in_short(finding, place)], "told": True}


def _in_short(finding: Finding, place: str) -> FindingSummary:
    return {
        "candidate": finding.sides[1],
        "what": f"{finding.operator}, {finding.first.heading} ({finding.first.stage})",
        "place": place,
        "reproducer": reproduce(place) if finding.script is not None else "",
        "verified": str(finding.verified) if finding.verified.tried else "",
        "seed": finding.base_seed,
        "trial": finding.index,
    }
