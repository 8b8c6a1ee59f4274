"""What a sweep has found so far, on disk while it runs, so that another run can go on with it."""

from __future__ import annotations

import dataclasses
import json
import pickle
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final

from autotest.base.errors import UsageError
from autotest.results.sweep import Cell
from autotest.sweeping.units import Unit

FORMAT: Final = "autotest sweep under way"
#: Raised when what is written changes, such as a field of `Cell`.
VERSION: Final = 3
_LENGTH: Final = struct.Struct("<Q")


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """What a sweep was asked for, and of whom."""

    expression: str
    seed: int
    calls: str
    candidate: str


def place(directory: Path, shard: tuple[int, int]) -> Path:
    """Where the last sweep of a shard is kept."""
    return directory / "sweeps" / "{}-of-{}".format(*shard)


class Journal:
    """Appends what samples of units showed. Where that fails, it says why and writes nothing more.

    Records are pickles: the file is read by its writer's own user and version only, and never sent anywhere.
    """

    def __init__(self, path: Path, *, resumed: bool = False) -> None:
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

    def begin(self, asked: Asked) -> None:
        """Say what is run."""
        header = {"format": FORMAT, "version": VERSION, **dataclasses.asdict(asked)}
        self._write((json.dumps(header) + "\n").encode())

    def resumed(self) -> None:
        """What was handed in of units that had not come to their end counts no more: they are judged again."""
        self._record(None)

    def add(self, unit: Unit, cell: Cell, done: bool) -> None:
        """Note what some samples of a unit showed, and whether these were the last."""
        self._record((name_of(unit), cell, done))

    def _record(self, value: object) -> None:
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


def name_of(unit: Unit) -> str:
    """What a unit is called, in every run."""
    return f"{unit.database}/{unit.key}/{unit.kind}" + (f"/{unit.turn}" if unit.turn else "")


def read(path: Path) -> tuple[Asked, Mapping[str, list[Cell]]]:
    """What the sweep in `path` was asked for, and what the units came to that had been judged to their end.

    Raises `UsageError` where there is none, or one that this version cannot read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"there is no sweep to resume: {path} cannot be read ({error.strerror})") from error
    first, _, rest = data.partition(b"\n")
    try:
        header = json.loads(first)
        known = header["format"] == FORMAT and header["version"] == VERSION
        asked = Asked(**{field.name: header[field.name] for field in dataclasses.fields(Asked)})
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise UsageError(f"{path} cannot be resumed, it is damaged or of another version; run without --resume")
    done: dict[str, list[Cell]] = {}
    parts: dict[str, list[Cell]] = {}
    for record in _records(rest):
        if record is None:
            parts.clear()
            continue
        name, cell, over = record
        parts.setdefault(name, []).append(cell)
        if over:
            done[name] = parts.pop(name)
    return asked, done


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
