"""A campaign as plain data, for whoever wants to go on with it: what `--json` writes."""

from __future__ import annotations

from typing import Any

from autotest.results.progress import Standing
from autotest.results.tasks import Found

VERSION = 1


def as_data(standing: Standing) -> dict[str, Any]:
    """Everything that the summary is made from."""
    return {
        "format": "autotest campaign",
        "version": VERSION,
        "base_seed": standing.base_seed,
        "seconds": round(standing.seconds, 3),
        "stopped": standing.stopped,
        "trials": standing.trials,
        "accepted": standing.accepted,
        "rejected": standing.rejected,
        "cleared": standing.cleared,
        "workers_lost": standing.workers_lost,
        "set_aside": sorted(standing.set_aside),
        "expected": dict(sorted(standing.expected.items())),
        "findings": [finding(found, standing.seen[identity]) for identity, found in standing.found.items()],
        "vanished": [{"test": where.test, "trial": index} for where, index in standing.vanished],
        "left_out": [{"name": name, "why": why} for name, why in standing.left_out],
        "files_broken": [{"name": name, "why": why} for name, why in standing.files_broken],
        "tests": [
            {
                "test": test.where.test,
                "file": str(test.where.file),
                "trials": test.tried,
                "accepted": test.accepted,
                "rejected": test.rejected,
                "died": test.died,
                "seconds": round(test.seconds, 3),
                "rejections": dict(test.rejections.most_common(20)),
                "operators": dict(sorted(test.operators.items())),
                "broken": test.broken,
                "forgotten_gradients": dict(test.forgotten),
                "set_aside": test.set_aside,
            }
            for test in standing.tests
            if test.tried
        ],
    }


def finding(found: Found, times: int) -> dict[str, Any]:
    """One finding."""
    return {
        "key": found.key,
        **found.identity._asdict(),
        "normalised": found.identity.message,
        "message": found.message,
        "verdict": found.verdict,
        "verified": str(found.verified),
        "times": times,
        "test": found.where.test,
        "file": str(found.where.file),
        "base_seed": found.where.base_seed,
        "trial": found.index,
        "place": found.place,
    }
