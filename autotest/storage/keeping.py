"""Stores a finding below the run's folder, or in a temporary one where that cannot be written, and finds it again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from autotest.base.errors import AutotestError
from autotest.report import text
from autotest.results.finding import Finding
from autotest.results.tasks import Found, Where
from autotest.storage.store import Store, Stored, StoreUnwritable
from autotest.storage.store_format import to_files

#: The files of a finding that is put into this folder, since it could not be put into its own for this reason.
FilesWritten = Callable[[Path, str], Mapping[str, bytes]]


def keep(finding: Finding, where: Where, directory: Path) -> Found:
    """Put a finding into the store below `directory`, or where it can be written."""

    def report(folder: Path, trouble: str) -> str:
        return text.divergence(finding, shortened(folder), trouble)

    place, trouble = put(directory, finding.identity.key, lambda folder, why: to_files(finding, report(folder, why)))
    return Found(
        key=place.name,
        identity=finding.identity,
        where=where,
        index=finding.index,
        place=shortened(place),
        verified=finding.verified,
        verdict=finding.verdict[0] if finding.verdict else "",
        message=finding.first.message,
        report=report(place, trouble),
        happens=", ".join(finding.happens),
        blame=finding.blame,
    )


def put(directory: Path, key: str, written: FilesWritten) -> tuple[Path, str]:
    """Put the files of the failure `key` into the store below `directory`, or elsewhere where it cannot be written.

    Returns their folder, and what stood in the way of the proper one. Raises `StoreUnwritable` where neither can be
    written.
    """
    proper = Store(directory)
    try:
        place = proper.put(key, written(proper.failures / key, ""))
    except StoreUnwritable as error:
        other = _elsewhere(proper) or Store.temporary()
        return other.put(key, written(other.failures / key, str(error))), str(error)
    _forget_elsewhere(proper, key)
    return place, ""


def latest(directory: Path, key: str) -> Stored:
    """What `put` kept last of the failure `key`; raises `UsageError` and `StoreDamaged` as `Store.load` does."""
    return _holding(directory, key).load(key)


def latest_files(directory: Path, key: str) -> dict[str, bytes]:
    """Its files; raises `UsageError` when there is none."""
    return _holding(directory, key).files(key)


def forget(directory: Path, key: str) -> None:
    """Remove the failure `key` wherever `put` kept it, if it did."""
    proper = Store(directory)
    with contextlib.suppress(AutotestError):
        proper.remove(key)
    _forget_elsewhere(proper, key)


def _holding(directory: Path, key: str) -> Store:
    """The store that `put` used last for `key`: what is elsewhere is gone as soon as the proper place has it."""
    proper = Store(directory)
    other = _elsewhere(proper, make=False)
    return proper if other is None or not (other.failures / key).is_dir() else other


def _forget_elsewhere(proper: Store, key: str) -> None:
    other = _elsewhere(proper, make=False)
    if other is not None:
        with contextlib.suppress(AutotestError):
            other.remove(key)


def _elsewhere(proper: Store, *, make: bool = True) -> Store | None:
    """The one store that every process uses instead of `proper`; None where there is none that is this user's own."""
    name = hashlib.sha256(os.fsencode(proper.root)).hexdigest()[:16]
    root = Path(tempfile.gettempdir()) / f"autotest-{os.geteuid()}-{name}"
    with contextlib.suppress(OSError):
        if make:
            root.mkdir(mode=0o700, exist_ok=True)
        # Its scripts are run: not one that somebody else has put there.
        found = root.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
            return Store(root)
    return None


def shortened(place: Path) -> str:
    """The path from here, which is what people will type, where there is one."""
    with contextlib.suppress(ValueError):
        return str(place.relative_to(Path.cwd()))
    return str(place)
