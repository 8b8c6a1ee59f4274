"""The counts that earlier runs came to, a line each, for a page that shows how they changed."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

#: Runs that a page shows.
SHOWN: Final = 30
_FILE: Final = "runs.jsonl"


def noted(directory: Path, what: str, date: str, counts: Mapping[Any, int]) -> Sequence[Mapping[str, Any]]:
    """Note what a run came to; returns the last runs of the same `what`, this one included, the oldest first.

    A history that cannot be read or written costs no run: what there is of it is returned.
    """
    runs = [run for run in _read(directory / _FILE) if run["what"] == what]
    run = {"what": what, "date": date, "counts": {name: count for name, count in counts.items() if count}}
    with contextlib.suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True)
        with (directory / _FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(run) + "\n")
    return [*runs, run][-SHOWN:]


def _read(path: Path) -> list[dict[str, Any]]:
    found = []
    with contextlib.suppress(OSError):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError, TypeError):
                run = json.loads(line)
                if isinstance(run, dict) and run.keys() >= {"what", "date", "counts"}:
                    found.append(run)
    return found
