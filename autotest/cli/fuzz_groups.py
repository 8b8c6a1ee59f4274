"""Runs a campaign on each group of machines of a cluster at once: the same trials everywhere, and a column for each."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from typing import Final, NamedTuple

from autotest.base.errors import UsageError
from autotest.campaigns.campaign import Campaign, Plan, progress_of
from autotest.campaigns.executor import Observer, SaveProgress
from autotest.campaigns.history import History
from autotest.campaigns.round_robin import run_in_turns
from autotest.results.combined import combined
from autotest.results.identity import Identity
from autotest.results.progress import CampaignProgress
from autotest.results.tasks import FindingRecord
from autotest.sources.collection import Collection

#: Seconds between two updates of the display with the sum over all groups.
_SHOWN_EVERY: Final = 0.5


class CampaignShard(NamedTuple):
    """The part of all trials that a campaign runs; its text identifies the campaign in the history."""

    shard: tuple[int, int]
    #: Whether it runs on each group of machines.
    each: bool = False
    #: The group of machines that the campaign is for; "" if it is not for a single group.
    group: str = ""

    def __str__(self) -> str:
        where = f" on {self.group}" if self.group else " on each group" if self.each else ""
        return "{}/{}".format(*self.shard) + where


class CampaignsOfHistory:
    """Factory of the functions that save campaigns. It begins them in the history, or resumes the last ones."""

    def __init__(self, history: History, part: CampaignShard, resume: bool) -> None:
        self._history, self._part, self._resume = history, part, resume

    def __call__(self, progress: CampaignProgress, group: str = "") -> SaveProgress:
        """Return the function that saves the progress of a campaign; `group` is its group of machines, if any."""
        shard = str(self._part._replace(group=group))
        campaign = self._resumed(progress, shard, group) if self._resume else self._history.begin(progress, shard)
        return lambda *where: self._history.save(campaign, *where)

    def _resumed(self, progress: CampaignProgress, shard: str, group: str) -> str:
        try:
            return self._history.resume(progress, shard)
        except UsageError:
            if not group:
                raise
            return self._history.begin(progress, shard)  # a group that did not exist in the earlier run


class _SharedDisplay:
    """An observer that shows the sum of all groups, and each finding once, when the first group has it."""

    def __init__(self, groups: Mapping[str, CampaignProgress], shown: Observer) -> None:
        self._groups, self._shown = groups, shown
        self._announced: set[Identity] = set()
        self._next = 0.0

    def changed(self, progress: CampaignProgress) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _SHOWN_EVERY
            self._shown.changed(combined(self._groups))

    def found(self, found: FindingRecord) -> None:
        if found.identity not in self._announced:
            self._announced.add(found.identity)
            self._shown.found(found)

    def renamed(self, key: str, other: str) -> None:
        self._shown.renamed(key, other)


def run(
    cluster: object, collected: Collection, plan: Plan, shown: Observer, begun: CampaignsOfHistory, graph_mode: str = ""
) -> tuple[CampaignProgress, Exception | None]:
    """Run `plan` on each group of a prepared cluster, against a candidate with this graph mode; "" if it has none.

    Returns the sum of their progress, and the exception that ended the campaign of one group early, if any.
    """
    from autotest.clusters.cluster import Cluster  # a campaign on this machine does not need it

    assert isinstance(cluster, Cluster), "--each-group is refused without a cluster"
    groups: dict[str, CampaignProgress] = {}
    everywhere = _SharedDisplay(groups, shown)
    began = time.monotonic()

    def joined() -> dict[str, Campaign]:
        """Return a campaign for each group of machines that has none yet.

        A group that joins late has less time if the plan has a time limit; if it has a number of trials, it runs as
        many.
        """
        left = None if plan.seconds is None else max(0.0, plan.seconds - (time.monotonic() - began))
        own = dataclasses.replace(plan, seconds=left)
        others = {}
        for name in cluster.groups:
            if name not in groups:
                groups[name] = progress_of(collected, plan.base_seed, graph_mode)
                others[name] = Campaign(groups[name], own, cluster.only(name), everywhere, begun(groups[name], name))
        return others

    failures = run_in_turns(joined(), joined)
    return combined(groups), next(iter(failures.values()), None)
