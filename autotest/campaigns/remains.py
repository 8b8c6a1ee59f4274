"""What a process left that died of a task: its trail and its last words."""

from __future__ import annotations

import contextlib
from pathlib import Path

from autotest.processes import breadcrumb
from autotest.processes.endings import ProcessDeath, last_words
from autotest.results.tasks import Death


def death_told_by(trail: Path, log: Path, died: ProcessDeath) -> Death:
    """What is known of a death; the files it is told by are gone afterwards."""
    position = breadcrumb.read(trail)
    words = ""
    with contextlib.suppress(OSError):
        words = last_words(log.read_text(errors="replace"))
    for file in (trail, log):
        with contextlib.suppress(OSError):
            file.unlink()
    if position is None or position.index < 0:
        return Death(died.symptom, died.how, words, None, "", "")
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
        signature=position.note if position.note.startswith(f"{position.operator}(") else "",
    )


__all__ = ["death_told_by"]
