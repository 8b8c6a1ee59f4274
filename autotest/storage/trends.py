"""The counts of earlier runs, one line for each run, for a page that shows how they changed."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

#: Number of latest runs that a page shows.
SHOWN: Final = 30
_FILE: Final = "runs.jsonl"


def append_run(directory: Path, what: str, date: str, counts: Mapping[Any, int]) -> Sequence[Mapping[str, Any]]:
    """Append the counts of a run to the history; return the latest runs of the same kind, oldest first.

    If the history cannot be read or written, the runs that are known are returned; this run is always the last.

    Args:
        directory: the folder of the history.
        what: the kind of run.
        date: the date of the run.
        counts: the counts of the run by name; zeros are left out.
    """
    runs = [run for run in _read(directory / _FILE) if run["what"] == what]
    run = {"what": what, "date": date, "counts": {name: count for name, count in counts.items() if count}}
    with contextlib.suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True)
        with (directory / _FILE).open("a+b") as file:
            file.write(_line_end(file) + json.dumps(run).encode() + b"\n")
    return [*runs, run][-SHOWN:]


def _line_end(file: IO[bytes]) -> bytes:
    """Return the line end that a run which was killed, or a full disk, left out of the last line of `file`."""
    if not file.seek(0, os.SEEK_END):
        return b""
    file.seek(-1, os.SEEK_END)
    return b"" if file.read() == b"\n" else b"\n"


def _read(path: Path) -> list[dict[str, Any]]:
    found = []
    with contextlib.suppress(OSError):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError, TypeError):
                run = json.loads(line)
                if isinstance(run, dict) and run.keys() >= {"what", "date", "counts"}:
                    found.append(run)
    return found
