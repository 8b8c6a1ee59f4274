"""A file of pickled records after a JSON header; a run that is killed loses at most the last record."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pickle
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, TypeVar

from autotest.base.errors import UsageError

#: A dataclass of the arguments of a run.
A = TypeVar("A")

_LENGTH: Final = struct.Struct("<Q")


@dataclasses.dataclass(frozen=True, slots=True)
class Format:
    """The type of the records of a file."""

    name: str
    #: Increased by each change of the records, such as of their fields.
    version: int

    def header(self, asked: Any) -> Mapping[str, Any]:
        """Return the header of a file for a run with the arguments `asked`, a dataclass."""
        return {"format": self.name, "version": self.version, **dataclasses.asdict(asked)}

    def resumed(self, path: Path, asked: type[A]) -> tuple[A, Iterator[Any]]:
        """Return the arguments of the run that wrote `path`, and its records.

        Args:
            path: the file.
            asked: the dataclass of the arguments.

        Raises:
            UsageError: there is no such file, or this version cannot read it.
        """
        try:
            header, written = read(path)
        except OSError as error:
            raise UsageError(f"nothing to resume: {path} cannot be read ({error.strerror})") from error
        try:
            known = header["format"] == self.name and header["version"] == self.version
            before = asked(**{field.name: header[field.name] for field in dataclasses.fields(asked)})  # type: ignore[arg-type]
        except (KeyError, TypeError):
            known = False
        if not known:
            raise UsageError(f"{path} cannot be resumed: it is damaged or from another version; run without --resume")
        return before, written


class Records:
    """Appends records to a file. After an error it sets `trouble` and writes nothing more.

    Records are pickles: only the user and the version that wrote the file read it, and it is never sent anywhere.
    """

    def __init__(self, path: Path, *, resumed: bool = False) -> None:
        """Open the file at `path`; append to its records if `resumed`, else replace them."""
        self._file: IO[bytes] | None = None
        #: Why the latest records could not be written; empty if they were.
        self.trouble = ""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            ignore = path.parents[1] / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
            if resumed:
                # Without an incomplete record at the end, whose rest a reader would take from the next record.
                os.truncate(path, _complete(path.read_bytes()))
            self._file = path.open("ab" if resumed else "wb", buffering=0)
        except OSError as error:
            self.trouble = f"this run cannot be resumed: {path} cannot be written ({error.strerror})"

    def begin(self, header: Mapping[str, Any]) -> None:
        """Write the header, which must be values that `json.dumps` accepts."""
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
            self.trouble = f"this run cannot be resumed from its end: {error.strerror}"
            self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read(path: Path) -> tuple[Any, Iterator[Any]]:
    """Return the header of a file and its records; the header is None if it cannot be parsed.

    Raises:
        OSError: the file cannot be read.
    """
    first, _, rest = path.read_bytes().partition(b"\n")
    try:
        header = json.loads(first)
    except ValueError:
        header = None
    return header, _records(rest)


def _records(data: bytes) -> Iterator[Any]:
    with contextlib.suppress(Exception):  # a damaged pickle may raise anything, and the data after it is damaged, too
        for start, end in _places(data):
            yield pickle.loads(data[start:end])


def _places(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each record in `data`, without an incomplete one, which a killed run may leave."""
    start = _LENGTH.size
    while start <= len(data):
        (size,) = _LENGTH.unpack_from(data, start - _LENGTH.size)
        end = start + size
        if not size or end > len(data):  # no record is empty, but a crash of the machine may leave zeros
            return
        yield start, end
        start = end + _LENGTH.size


def _complete(data: bytes) -> int:
    """Return the length of the header and the complete records of a file with the contents `data`."""
    header = data.find(b"\n") + 1
    *_, (_, end) = ((0, 0), *_places(data[header:]))
    return header + end
