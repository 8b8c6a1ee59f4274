"""What a run on a cluster came to on each group of machines that have the same frameworks and devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autotest.results.progress import CampaignProgress
from autotest.results.sweep import SweepMap
from autotest.results.sweep_findings import SweepFinding


class Group(NamedTuple):
    """One group of machines, and what the run came to there."""

    #: Such as ``torch 2.0.1 / oneflow 0.9.0 on cpu``.
    name: str
    workers: int
    #: Of a sweep, samples.
    trials: int
    #: Distinct ones that were seen there.
    findings: int
    #: Why it ended before its time, if it did.
    stopped: str = ""

    def as_data(self) -> dict[str, Any]:
        """As values that `json.dumps` takes."""
        return self._asdict()


def of_campaign(progress: CampaignProgress) -> list[Group]:
    """The groups of a campaign; none where it ran on one without being asked for each."""
    return [
        Group(name, part.workers, part.trials, len(part.found), part.stopped) for name, part in progress.groups.items()
    ]


def of_sweep(swept: SweepMap, findings: Sequence[SweepFinding]) -> list[Group]:
    """The groups of a sweep; none where it ran on one without being asked for each."""
    cells = [row.cell for row in swept.rows.values()]
    return [
        Group(
            name, workers, sum(cell.groups[name] for cell in cells), sum(bool(one.groups.get(name)) for one in findings)
        )
        for name, workers in swept.workers.items()
    ]


__all__ = ["Group", "of_campaign", "of_sweep"]
