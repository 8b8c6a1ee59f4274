"""Opens the breadcrumb file of a worker, and reads from it and from the worker's log how a worker died."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Literal

from autotest.processes import breadcrumb
from autotest.processes.breadcrumb import Breadcrumb
from autotest.processes.endings import ProcessDeath, last_words
from autotest.results.tasks import Death, fatal_call


def fallback_path(crumb_path: Path) -> Path:
    """Return the path used instead of `crumb_path` if there is no room for the breadcrumb file at `crumb_path`."""
    return Path(tempfile.gettempdir()) / f"autotest-{crumb_path.parent.name}-{crumb_path.name}"


def breadcrumb_at(crumb_path: Path) -> Breadcrumb | None:
    """Return the breadcrumb file of this process at `crumb_path`, or in the temporary folder if that disk is full.

    Returns None if neither has room.
    """
    for path in (crumb_path, fallback_path(crumb_path)):
        with contextlib.suppress(OSError):
            return Breadcrumb(path)
    return None


def current_activity(crumb_path: Path) -> Literal["preparing", "running", "judging"]:
    """Return whether the process with the breadcrumb file at `crumb_path` prepares, runs a trial, or judges one."""
    position = breadcrumb.read(crumb_path) or breadcrumb.read(fallback_path(crumb_path))
    if position is None or position.index < 0:
        return "preparing"
    return "judging" if position.judged else "running"


def forget(crumb_path: Path, log: Path) -> None:
    """Remove the files that a process left."""
    for file in (crumb_path, fallback_path(crumb_path), log):
        with contextlib.suppress(OSError):
            file.unlink()


def read_death(crumb_path: Path, log: Path, died: ProcessDeath) -> Death:
    """Return what the breadcrumb file and the log tell about a death, and remove both files."""
    position = breadcrumb.read(crumb_path) or breadcrumb.read(fallback_path(crumb_path))
    words = ""
    with contextlib.suppress(OSError):
        words = last_words(log.read_text(errors="replace"))
    forget(crumb_path, log)
    if position is None or position.index < 0:
        return Death(died.symptom, died.how, words)
    mode, back = position.settings.get("graph", ("", 0))
    if mode:  # the breadcrumb file does not record the calls of graph mode
        return Death(died.symptom, died.how, words, position.index, mode, "replay", back=back)
    running = fatal_call(position.operator, refused=False, backward=position.stage == "backward")
    return Death(
        died.symptom,
        died.how,
        words,
        position.index,
        position.operator,
        position.stage,
        position.side,
        position.refused,
        # The noted signature may belong to an earlier call.
        signature=position.signature if position.noted == running else "",
    )
