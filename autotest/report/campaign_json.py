"""Converts a campaign to plain data for further processing; `--json` writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autotest.results.groups import of_campaign
from autotest.results.progress import CampaignProgress
from autotest.results.tasks import FindingRecord

VERSION = 1


def as_data(progress: CampaignProgress, sides: Sequence[str], versions: Mapping[str, str]) -> dict[str, Any]:
    """Return everything that the summary contains, as values that `json.dumps` accepts.

    ``findings`` has an object for each distinct finding in the order of discovery, and ``tests`` one for each test that
    ran, is broken or skips itself. Of a test, trials are accepted, rejected (by the reference), absent (they need what
    the candidate lacks; the reasons of both are in ``rejections``), died (their process), or ended before a call that
    is avoided (``avoided``). Texts are empty where they do not apply. Paths are as given on the command line.

    Args:
        progress: the campaign.
        sides: the names of the reference and the candidate.
        versions: the version of each side, by its name, as far as known.
    """
    return {
        "format": "autotest campaign",
        "version": VERSION,
        "sides": list(sides),
        "versions": dict(versions),
        "base_seed": progress.base_seed,
        "seconds": round(progress.seconds, 3),
        "stopped": progress.stopped,
        "trials": progress.trials,
        "accepted": progress.accepted,
        "rejected": progress.rejected,
        "absent": progress.absent,
        "cleared": progress.cleared,
        "machines": progress.machines,
        "groups": [group.as_data() for group in of_campaign(progress)],
        "workers_lost": progress.workers_lost,
        "set_aside": sorted(progress.set_aside),
        "expected": dict(sorted(progress.expected.items())),
        "findings": [
            {**finding(found, progress.seen[identity]), "groups": progress.seen_on(identity)}
            for identity, found in progress.found.items()
        ],
        "vanished": [{"test": where.test, "trial": index} for where, index in progress.vanished],
        "undiagnosed": [
            {"test": where.test, "base_seed": where.base_seed, "trial": index, "why": why}
            for where, index, why in progress.undiagnosed
        ],
        "left_out": [{"name": name, "why": why} for name, why in progress.unexplored],
        "files_broken": [{"name": name, "why": why} for name, why in progress.files_broken],
        "tests": [
            {
                "test": test.where.test,
                "file": str(test.where.file),
                "trials": test.tried,
                "accepted": test.accepted,
                "rejected": test.rejected,
                "absent": test.absent,
                "died": test.died,
                "seconds": round(test.seconds, 3),
                "rejections": dict(test.rejections.most_common(20)),
                "avoided": dict(test.avoided),
                "operators": dict(sorted(test.operators.items())),
                "broken": test.broken,
                "refused": test.refused,
                "skips": test.skips,
                "forgotten_gradients": dict(test.complaints),
                "left_out_of_graph_mode": dict(test.left_out) if test.ungraphed else {},
                "set_aside": test.set_aside,
            }
            for test in progress.tests
        ],
    }


def finding(found: FindingRecord, times: int) -> dict[str, Any]:
    """Return one finding as data for JSON, with the number of trials that saw it."""
    return {
        "key": found.key,
        **found.identity._asdict(),
        "normalised": found.identity.message,
        "message": found.message,
        "verdict": found.verdict,
        "happens": found.happens,
        "verified": str(found.verified),
        "times": times,
        "test": found.where.test,
        "file": str(found.where.file),
        "base_seed": found.where.base_seed,
        "trial": found.index,
        "place": found.place,
    }
