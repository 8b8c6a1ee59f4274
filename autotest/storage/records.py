"""A file of pickled records behind a header in JSON, of which a run that is killed loses the last record at most."""

from __future__ import annotations

import dataclasses
import json
import pickle
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, TypeVar

from autotest.base.errors import UsageError

#: A dataclass of what a run was asked for.
A = TypeVar("A")

_LENGTH: Final = struct.Struct("<Q")


@dataclasses.dataclass(frozen=True, slots=True)
class Format:
    """What the records of a file are."""

    name: str
    #: Raised when what is written changes, such as a field of a record.
    version: int

    def header(self, asked: Any) -> Mapping[str, Any]:
        """The first line of a file for what the dataclass `asked` says."""
        return {"format": self.name, "version": self.version, **dataclasses.asdict(asked)}

    def resumed(self, path: Path, asked: type[A]) -> tuple[A, Iterator[Any]]:
        """What the run that wrote `path` was asked for, and its records.

        Raises `UsageError` where there is no such file, or one that this version cannot read.
        """
        try:
            header, written = read(path)
        except OSError as error:
            raise UsageError(f"there is nothing to resume: {path} cannot be read ({error.strerror})") from error
        try:
            known = header["format"] == self.name and header["version"] == self.version
            before = asked(**{field.name: header[field.name] for field in dataclasses.fields(asked)})  # type: ignore[arg-type]
        except (KeyError, TypeError):
            known = False
        if not known:
            raise UsageError(f"{path} cannot be resumed, it is damaged or of another version; run without --resume")
        return before, written


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


__all__ = ["Format", "Records", "read"]
