"""A file of records behind a line that says what they are of, of which a run that is killed loses the last at most."""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final

_LENGTH: Final = struct.Struct("<Q")


class Records:
    """Appends records to a file. Where that fails, it says why and writes nothing more.

    Records are pickles: the file is read by its writer's own user and version only, and never sent anywhere.
    """

    def __init__(self, path: Path, *, resumed: bool = False) -> None:
        """Records go behind those that `path` has if it is `resumed`, and replace them otherwise."""
        self._file: IO[bytes] | None = None
        #: Why it lacks what happened last; empty if it does not.
        self.trouble = ""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            ignore = path.parents[1] / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
            self._file = path.open("ab" if resumed else "wb", buffering=0)
        except OSError as error:
            self.trouble = f"it cannot be resumed: {path} cannot be written ({error.strerror})"

    def begin(self, header: Mapping[str, Any]) -> None:
        """Say what the records are of, in values that JSON has."""
        self._write((json.dumps(header) + "\n").encode())

    def add(self, value: object) -> None:
        """Append one record."""
        if self._file is not None:
            data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
            self._write(_LENGTH.pack(len(data)) + data)

    def _write(self, data: bytes) -> None:
        try:
            while data and self._file is not None:
                data = data[self._file.write(data) or 0 :]
        except OSError as error:
            self.trouble = f"it cannot be resumed as it ended: {error.strerror}"
            self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read(path: Path) -> tuple[Any, Iterator[Any]]:
    """The header of a file, None where it has none that can be read, and its records; raises `OSError`."""
    first, _, rest = path.read_bytes().partition(b"\n")
    try:
        header = json.loads(first)
    except ValueError:
        header = None
    return header, _records(rest)


def _records(data: bytes) -> Iterator[Any]:
    """The records in `data`; what a run that was killed wrote halfway is left out."""
    at = 0
    while at + _LENGTH.size <= len(data):
        (size,) = _LENGTH.unpack_from(data, at)
        at += _LENGTH.size
        if at + size > len(data):
            return
        try:
            yield pickle.loads(data[at : at + size])
        except Exception:  # noqa: BLE001 - a damaged pickle may raise anything; what comes after it is damaged, too
            return
        at += size


__all__ = ["Records", "read"]
