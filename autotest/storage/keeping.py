"""Stores a finding below the run's folder, or in a temporary one if that cannot be written, and finds it again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from autotest.base.errors import AutotestError
from autotest.base.working_folder import working_folder
from autotest.report import text
from autotest.results.finding import Finding
from autotest.results.tasks import FindingRecord, Where
from autotest.storage.store import Store, Stored, StoreUnwritable
from autotest.storage.store_format import to_files

#: Returns the files of a finding. It is called with the folder of the finding, and with the reason why this is not the
#: proper folder, which is empty if it is.
FilesWritten = Callable[[Path, str], Mapping[str, bytes]]


def keep(finding: Finding, where: Where, directory: Path) -> FindingRecord:
    """Write a finding to the store below `directory`, or to a temporary store if that cannot be written.

    Raises:
        StoreUnwritable: neither store can be written.
    """

    def report(folder: Path, trouble: str) -> str:
        return text.divergence(finding, shortened(folder), trouble)

    place, trouble = put(directory, finding.identity.key, lambda folder, why: to_files(finding, report(folder, why)))
    return FindingRecord(
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
        has_script=finding.script is not None,
    )


def put(directory: Path, key: str, written: FilesWritten) -> tuple[Path, str]:
    """Write the files of a failure to the store below `directory`, or to a temporary store if that cannot be written.

    Args:
        directory: the root of the store.
        key: the key of the failure.
        written: returns the files; see `FilesWritten`.

    Returns:
        The folder of the files, and why it is not the proper one; empty if it is.

    Raises:
        StoreUnwritable: neither store can be written.
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
    """Return the failure `key` as `put` stored it last.

    Raises:
        UsageError: there is no such failure.
        StoreDamaged: the failure cannot be read.
    """
    return _holding(directory, key).load(key)


def latest_files(directory: Path, key: str) -> dict[str, bytes]:
    """Return the files of the failure `key` as `put` stored them last.

    Raises:
        UsageError: there is no such failure.
    """
    return _holding(directory, key).files(key)


def forget(directory: Path, key: str) -> None:
    """Remove the failure `key` from every store that `put` uses, if it is there."""
    proper = Store(directory)
    with contextlib.suppress(AutotestError):
        proper.remove(key)
    _forget_elsewhere(proper, key)


def _holding(directory: Path, key: str) -> Store:
    """Return the store that `put` used last for `key`.

    This is the temporary store if it contains the key, since `put` removes it there when it writes the proper store.
    """
    proper = Store(directory)
    other = _elsewhere(proper, make=False)
    return proper if other is None or not (other.failures / key).is_dir() else other


def _forget_elsewhere(proper: Store, key: str) -> None:
    other = _elsewhere(proper, make=False)
    if other is not None:
        with contextlib.suppress(AutotestError):
            other.remove(key)


def _elsewhere(proper: Store, *, make: bool = True) -> Store | None:
    """Return the temporary store that every process uses instead of `proper`; None if none belongs to this user."""
    name = hashlib.sha256(os.fsencode(proper.root)).hexdigest()[:16]
    root = Path(tempfile.gettempdir()) / f"autotest-{os.geteuid()}-{name}"
    with contextlib.suppress(OSError):
        if make:
            root.mkdir(mode=0o700, exist_ok=True)
        # The scripts in the store are executed, so do not use a folder that another user has created.
        found = root.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
            return Store(root)
    return None


def shortened(place: Path) -> str:
    """Return `place` relative to the working folder, as users type it, if it is inside; else the whole path."""
    with contextlib.suppress(ValueError):
        return str(place.relative_to(working_folder()))
    return str(place)
