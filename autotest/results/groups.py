"""The results of a run on a cluster for each group of machines with the same frameworks and devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autotest.results.progress import CampaignProgress
from autotest.results.sweep import SweepMap
from autotest.results.sweep_findings import SweepFinding


class Group(NamedTuple):
    """The results of a run on one group of machines."""

    #: Such as ``torch 2.0.1 / oneflow 0.9.0 on cpu``.
    name: str
    workers: int
    #: Number of trials; in a sweep, of samples.
    trials: int
    #: Number of distinct findings of this group.
    findings: int
    #: Why it ended early; empty if it did not.
    stopped: str = ""

    def as_data(self) -> dict[str, Any]:
        """Return the same as values that `json.dumps` accepts."""
        return self._asdict()


def of_campaign(progress: CampaignProgress) -> list[Group]:
    """Return the groups of a campaign; empty if it was not run for each group separately."""
    return [
        Group(name, part.workers, part.trials, len(part.found), part.stopped) for name, part in progress.groups.items()
    ]


def of_sweep(swept: SweepMap, findings: Sequence[SweepFinding]) -> list[Group]:
    """Return the groups of a sweep; empty if it was not run for each group separately."""
    cells = [row.cell for row in swept.rows.values()]
    return [
        Group(
            name, workers, sum(cell.groups[name] for cell in cells), sum(bool(one.groups.get(name)) for one in findings)
        )
        for name, workers in swept.workers.items()
    ]
