"""Notes in the folder of a stored death that its test was changed and survives, so that no later run checks it again.

A note holds for the contents of the test file and the versions of the frameworks. A test that dies again, maybe because
of code in another file, is stored again, which replaces the folder.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_NOTE: Final = "survived.txt"


def note_survival(death: Path, file: Path, versions: Mapping[str, str]) -> None:
    """Note in the folder `death` that the test survives its trial.

    If the test file was not changed since, the trial may die only sometimes, and nothing is noted.
    """
    with contextlib.suppress(OSError):  # the next run checks it again
        if file.stat().st_mtime_ns > (death / "failure.json").stat().st_mtime_ns:
            (death / _NOTE).write_text(_state(file, versions), encoding="utf-8")


def is_noted_as_survived(death: Path, file: Path, versions: Mapping[str, str]) -> bool:
    """Return whether the folder `death` has a note for this test file, as it is now, and these versions."""
    try:
        return (death / _NOTE).read_text(encoding="utf-8") == _state(file, versions)
    except (OSError, ValueError):
        return False


def _state(file: Path, versions: Mapping[str, str]) -> str:
    digest = hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()
    return "\n".join([digest, *(f"{name} {version}" for name, version in sorted(versions.items()))])
