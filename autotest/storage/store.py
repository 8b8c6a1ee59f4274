"""The store of failures on disk. Each finding is a folder that users and programs can read.

A folder is written under a hidden name next to its place and then renamed, so that no reader finds an incomplete one.
If the place is taken, the old folder is first renamed to ``.old-<token>~<key>``. If a process dies between these two
renames, the next reader restores the old folder. A folder that cannot be read is reported as `Damaged` and skipped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import json
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from autotest.base.errors import StoreDamaged, StoreUnwritable, UsageError
from autotest.results.finding import Finding
from autotest.sources.test_names import is_same_test, without_folders
from autotest.storage.store_format import FILES, Stored, from_files, to_files

__all__ = ["Damaged", "Store", "StoreUnwritable", "Stored"]

_EMPTY = "it is empty. A test that fails and `autotest fuzz` store failures there"
_KEY = re.compile(r"[a-z0-9_][a-z0-9_.-]*")
#: Seconds after which the process that wrote a hidden folder must have died; a living one needs it only for moments.
_STALE = 24 * 3600
#: Nanoseconds after a change of a folder after which the next change is sure to set another modification time, since
#: the clock of the file system is coarse.
_SETTLED = 2_000_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class Damaged:
    """An entry that cannot be read, and why."""

    key: str
    why: str


class Store:
    """The failures below one folder. A store has no open files and is cheap to create."""

    def __init__(self, root: Path) -> None:
        self.root, self.failures = _places(root, "" if root.is_absolute() else os.getcwd())  # noqa: PTH109 - as below

    @classmethod
    def temporary(cls) -> Store:
        """Return a store in a new temporary folder, for use when the proper folder cannot be written."""
        return cls(Path(tempfile.mkdtemp(prefix="autotest-")))

    # -- writing ----------------------------------------------------------------------------------------

    def save(self, finding: Finding, report: str | Callable[[Path], str] | None = None) -> Path:
        """Write `finding` in place of the failure with the same key; return its folder.

        Args:
            finding: the finding.
            report: the text of ``report.txt``, or a function that returns it for the folder; by default the messages of
                the mismatches.

        Raises:
            StoreUnwritable: the folder cannot be written.
        """
        final = self.failures / finding.identity.key
        return self.put(finding.identity.key, to_files(finding, report(final) if callable(report) else report))

    def put(self, key: str, files: Mapping[str, bytes]) -> Path:
        """Write the files of a failure in place of the failure `key`; return their folder.

        Args:
            key: the key of the failure.
            files: the contents of the files by name, as the method `files` returns them.

        Raises:
            StoreUnwritable: the folder cannot be written.
        """
        final = self._place(key)
        fresh = self.failures / f".new-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            self._prepare()
            fresh.mkdir()
            for name, data in files.items():
                _write(fresh / name, data)
            _sync(fresh)
            self._put(fresh, final)
            _sync(self.failures)
        except OSError as error:
            shutil.rmtree(fresh, ignore_errors=True)
            raise StoreUnwritable(
                f"failures cannot be kept in {self.failures}: {error.strerror or error}; make it writable, or name "
                f"another folder with AUTOTEST_DIR"
            ) from error
        return final

    def files(self, key: str) -> dict[str, bytes]:
        """Return the files of the failure `key`, for `put` on another machine.

        Raises:
            UsageError: there is no such failure.
        """
        try:
            return _read(self._place(key))
        except FileNotFoundError:
            raise self._unknown(key) from None

    def remove(self, key: str) -> None:
        """Delete the failure `key`.

        Raises:
            UsageError: there is no such failure.
            StoreUnwritable: the failure cannot be removed.
        """
        try:
            self._discard(self._place(key))
            for left in self.failures.glob(f".old-*~{key}"):  # of a writer that died; a reader would restore it
                self._discard(left)
        except FileNotFoundError:
            raise self._unknown(key) from None
        except OSError as error:
            raise StoreUnwritable(f"{key} cannot be removed from {self.failures}: {error}") from error

    def _discard(self, folder: Path) -> None:
        """Delete `folder`; rename it first, so that readers see it disappear in one step."""
        gone = self.failures / f".gone-{secrets.token_hex(4)}"
        folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    def _prepare(self) -> None:
        self.failures.mkdir(parents=True, exist_ok=True)
        ignore = self.root / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
        for path in self.failures.glob(".*-*"):
            # Remove folders that dead processes left behind; a living process needs its folder only for moments.
            with contextlib.suppress(OSError):
                if not path.name.startswith(".old-") and time.time() - path.stat().st_mtime > _STALE:
                    shutil.rmtree(path, ignore_errors=True)

    def _put(self, fresh: Path, final: Path) -> None:
        """Rename `fresh` to `final` and move an existing folder aside; retry if another process writes `final`."""
        aside = []
        while True:
            try:
                fresh.rename(final)
                break
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
            old = self.failures / f".old-{secrets.token_hex(4)}~{final.name}"
            with contextlib.suppress(FileNotFoundError):
                final.rename(old)
                aside.append(old)
        for old in aside:
            # A reader may restore a folder of this name at any moment, so `_discard` renames it before it is emptied.
            with contextlib.suppress(FileNotFoundError):
                self._discard(old)

    # -- reading ----------------------------------------------------------------------------------------

    def list(self) -> Sequence[Stored | Damaged]:
        """Return every entry sorted by key, including those that cannot be read.

        Raises `StoreDamaged` if the folder itself cannot be read: it may have failures.
        """
        try:
            os.listdir(self.failures)  # noqa: PTH208 - only whether it can be read
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise StoreDamaged(
                f"the stored failures in {self.failures} cannot be read: {error.strerror}; make the folder readable, "
                "or name another one with AUTOTEST_DIR"
            ) from error
        return [self._entry(key) for key in self._keys()]

    def load(self, key: str) -> Stored:
        """Return the failure `key`.

        Raises:
            UsageError: there is no such failure.
            StoreDamaged: the failure cannot be read.
        """
        if not self._place(key).exists() and key not in self._keys():
            raise self._unknown(key)
        entry = self._entry(key)
        if isinstance(entry, Damaged):
            raise StoreDamaged(f"the failure {key} in {self.failures} is damaged: {entry.why}; delete its folder")
        return entry

    def for_test(self, test: str, file: Path | None = None) -> Sequence[Stored]:
        """Return the readable failures of the test with this id in `file`, sorted by key; see `is_same_test`."""
        try:
            changed = self.failures.stat().st_mtime_ns
        except OSError:
            return []
        # Every test calls this, and after a sweep the store contains hundreds of failures that belong to no test.
        settled = time.time_ns() - changed > _SETTLED
        known = _settled_keys(self.root, changed) if settled else self._keys_by_test()
        entries = [self._entry(key) for key in known.get(without_folders(test), ())]
        found = [entry for entry in entries if isinstance(entry, Stored)]
        return [one for one in found if is_same_test(test, file, one.finding.test, one.finding.file)]

    def _keys_by_test(self) -> Mapping[str, Sequence[str]]:
        """Return the keys of the failures by test, without its folders; this reads no arrays, which may be large."""
        found: dict[str, list[str]] = {}
        for key in self._keys():
            with contextlib.suppress(Exception):  # of a damaged entry
                test = json.loads((self.failures / key / "failure.json").read_bytes()).get("test")
                found.setdefault(without_folders(test), []).append(key)
        return found

    def _keys(self) -> Sequence[str]:
        try:
            names = sorted(os.listdir(self.failures))  # noqa: PTH208 - only the names are needed
        except OSError:
            return []
        found = {name for name in names if not name.startswith(".")}
        for name in names:
            _, mark, key = name.partition("~")
            if name.startswith(".old-") and mark and key not in found:
                # Its writer died, or is between its two renames; then it moves this folder aside again.
                with contextlib.suppress(OSError):
                    (self.failures / name).rename(self.failures / key)
                found.add(key)
        return sorted(found)

    def _entry(self, key: str) -> Stored | Damaged:
        path = self._place(key)
        try:
            return from_files(key, path, _read(path))
        except ValueError as error:
            return Damaged(key, str(error))
        except Exception as error:  # noqa: BLE001 - what a damaged entry raises must not cost the others
            return Damaged(key, f"{type(error).__name__}: {error}")

    def _place(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise self._unknown(key)
        return self.failures / key

    def _unknown(self, key: str) -> UsageError:
        known = self._keys()
        return UsageError(
            f"no failure {key!r} is stored in {self.failures}; "
            + (f"there are {', '.join(known[:20])}" + (", ..." if len(known) > 20 else "") if known else _EMPTY)
        )


@functools.lru_cache(maxsize=4)  # every run of a test calls it
def _places(root: Path, working: str) -> tuple[Path, Path]:
    """Return the absolute folder of the store at `root`, and that of its failures."""
    absolute = working / root
    return absolute, absolute / "failures"


@functools.lru_cache(maxsize=4)
def _settled_keys(root: Path, changed: int) -> Mapping[str, Sequence[str]]:
    """Return the keys of the failures of each test in the store at `root`.

    `changed` is the modification time of its folder. Each change of the store renames a folder in it and so changes
    this time, which makes the cached result invalid.
    """
    return Store(root)._keys_by_test()


# -- one folder -----------------------------------------------------------------------------------------------


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Flush the directory `folder` to disk, so that the names in it survive a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(folder: Path, tries: int = 20) -> dict[str, bytes]:
    """Return the files of a folder, all of the same version of it, even if another process replaces it meanwhile."""
    for left in reversed(range(tries)):
        try:
            # Open files relative to the handle, which refers to the same folder even after another one has its name.
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                present = os.listdir(handle)  # noqa: PTH208 - of the open folder, which may have another name now
                files = {name: _read_at(handle, name) for name in FILES if name in present}
                # A folder that was replaced is emptied afterwards, so only a part of its files may have been read.
                if os.path.samestat(folder.stat(), os.fstat(handle)):
                    return files
            finally:
                os.close(handle)
        except FileNotFoundError:
            if not left:
                raise
        time.sleep(0.01)
    raise OSError(f"{folder} was replaced {tries} times while it was read")


def _read_at(folder: int, name: str) -> bytes:
    with open(name, "rb", opener=lambda path, flags: os.open(path, flags, dir_fd=folder)) as file:
        return file.read()
