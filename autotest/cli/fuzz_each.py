"""Campaigns against several candidates: one after the other, each for an equal part of the time, with one line each."""

from __future__ import annotations

import argparse
import copy
import re
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from autotest.base.environment import variables
from autotest.base.errors import UsageError
from autotest.base.plural import several
from autotest.cli.status import FAILED, FINDINGS, NOTHING_NEW, USAGE
from autotest.results.progress import CampaignProgress

#: Default duration of a campaign in seconds.
DEFAULT_SECONDS = 60.0
#: The order in which one of several exit statuses is chosen, the most informative first.
_ORDER = (FINDINGS, FAILED, USAGE, NOTHING_NEW)


def run(
    arguments: argparse.Namespace,
    names: Sequence[str],
    campaign: Callable[[argparse.Namespace], tuple[int, CampaignProgress]],
) -> int:
    """Run `campaign` against each candidate of `names`, all with one base seed, and return the exit status.

    Each candidate has a campaign of its own, so that a crash of one candidate does not affect the others.
    """
    if arguments.resume:
        raise UsageError(f"--resume: expected one candidate, got {', '.join(names)}; choose the one to continue")
    seed = secrets.randbits(32) if arguments.seed == "random" else arguments.seed
    statuses, lines = [], []
    for name in names:
        with variables({"AUTOTEST_CANDIDATE": name}):
            status, progress = campaign(_part_of(arguments, name, len(names), seed))
        statuses.append(status)
        trials = several(sum(test.tried for test in progress.tests), "trial")
        lines.append(f"  {name}: {several(len(progress.found), 'finding')} in {trials}")
        if progress.interrupted:
            break
    print("\n".join([f"Candidates, base seed {seed}:", *lines]))
    return next(status for status in _ORDER if status in statuses)


def _part_of(arguments: argparse.Namespace, name: str, parts: int, seed: int) -> argparse.Namespace:
    """Return the arguments for one candidate: its part of the time, and its own report files."""
    own = copy.copy(arguments)
    own.seed = seed
    if own.trials is None or own.time is not None:
        own.time = (arguments.time or DEFAULT_SECONDS) / parts
    for kind in ("json", "junitxml", "html"):
        place: Path | None = getattr(own, kind)
        if place is not None:
            slug = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
            setattr(own, kind, place.with_name(f"{place.stem}-{slug}{place.suffix}"))
    return own
