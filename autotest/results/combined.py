"""Adds up the progress of one campaign on several groups of machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autotest.results.coverage import add
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.verification import State

#: Attributes of `TestProgress` that are added up: numbers and counters.
_ADDED = (
    *("next", "tried", "died", "mishaps", "accepted", "seconds", "compared", "graphed"),
    *("rejections", "avoided", "expected", "known_deaths", "operators", "arguments", "forgotten", "left_out"),
)


def combined(groups: Mapping[str, CampaignProgress]) -> CampaignProgress:
    """Return the sum of the progress of `groups`, which run the same tests; they are not changed.

    Args:
        groups: the progress of each group of machines, by name.
    """
    one, *others = groups.values()
    whole = CampaignProgress(one.base_seed, [], left_out=one.left_out, files_broken=one.files_broken)
    whole.groups = dict(groups)
    by_test = [{test.where: test for test in other.tests} for other in others]
    whole.tests = [
        _added([test, *(tests[test.where] for tests in by_test if test.where in tests)]) for test in one.tests
    ]
    for group in groups.values():
        _add(whole, group)
    return whole


def _add(whole: CampaignProgress, group: CampaignProgress) -> None:
    for identity, found in group.found.items():
        before = whole.found.get(identity)
        # Prefer the finding of a group that has already diagnosed the death to one that still waits for it.
        if before is None or (before.verified.state is State.WAITING and found.verified.state is not State.WAITING):
            whole.found[identity] = found
    whole.seen += group.seen
    whole.vanished += group.vanished
    whole.undiagnosed += group.undiagnosed
    whole.expected += group.expected
    whole.cleared += group.cleared
    whole.workers_lost += group.workers_lost
    whole.deaths += group.deaths
    for call, arguments in group.fatal_arguments.items():
        whole.fatal_arguments.setdefault(call, set()).update(arguments)
    whole.known_deaths += group.known_deaths
    whole.set_aside |= group.set_aside
    add(whole.covered, group.covered)
    whole.seconds = max(whole.seconds, group.seconds)
    whole.workers += group.workers
    whole.unwritten = whole.unwritten or group.unwritten
    whole.stopped = whole.stopped or group.stopped
    whole.interrupted = whole.interrupted or group.interrupted


def _added(parts: Sequence[TestProgress]) -> TestProgress:
    """Return the sum of the progress of one test; it is broken, set aside or skipped if it is so in any group."""
    whole = TestProgress(parts[0].where)
    for part in parts:
        for name in _ADDED:
            setattr(whole, name, getattr(whole, name) + getattr(part, name))
        whole.gradient_tally.add(part.gradient_tally)
        whole.zeros.add(part.zeros)
        whole.places = {**part.places, **whole.places}
        whole.broken = whole.broken or part.broken
        whole.set_aside = whole.set_aside or part.set_aside
        whole.skips = whole.skips or part.skips
        whole.graph_mode = whole.graph_mode or part.graph_mode
    return whole
