"""Opens the trail of a worker, and tells by its trail and its log what a worker died of."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Literal

from autotest.processes import breadcrumb
from autotest.processes.breadcrumb import Breadcrumb
from autotest.processes.endings import ProcessDeath, last_words
from autotest.results.tasks import Death


def elsewhere(place: Path) -> Path:
    """Where a trail is that finds no room at `place`."""
    return Path(tempfile.gettempdir()) / f"autotest-{place.parent.name}-{place.name}"


def trail_at(place: Path) -> Breadcrumb | None:
    """The trail of this process at `place`, or elsewhere where that disk is full; None where neither has room."""
    for path in (place, elsewhere(place)):
        with contextlib.suppress(OSError):
            return Breadcrumb(path)
    return None


def doing(place: Path) -> Literal["preparing", "running", "judging"]:
    """What the process whose trail is at `place` does now: a trial, judging it, or what has to be done before one."""
    position = breadcrumb.read(place) or breadcrumb.read(elsewhere(place))
    if position is None or position.index < 0:
        return "preparing"
    return "judging" if position.judged else "running"


def forget(place: Path, log: Path) -> None:
    """Remove what a process left."""
    for file in (place, elsewhere(place), log):
        with contextlib.suppress(OSError):
            file.unlink()


def death_told_by(place: Path, log: Path, died: ProcessDeath) -> Death:
    """What is known of a death; the files it is told by are gone afterwards."""
    position = breadcrumb.read(place) or breadcrumb.read(elsewhere(place))
    words = ""
    with contextlib.suppress(OSError):
        words = last_words(log.read_text(errors="replace"))
    forget(place, log)
    if position is None or position.index < 0:
        return Death(died.symptom, died.how, words)
    mode, back = position.settings.get("graph", ("", 0))
    if mode:  # which call it was is not known there
        return Death(died.symptom, died.how, words, position.index, mode, "replay", back=back)
    return Death(
        died.symptom,
        died.how,
        words,
        position.index,
        position.operator,
        position.stage,
        position.side,
        position.refused,
        # It may be an earlier call's: what a backward call is known by is what it goes back through.
        signature=position.signature if position.noted == position.operator else "",
    )


__all__ = ["death_told_by", "doing", "forget", "trail_at"]
