"""Writes the outcomes of a running sweep to disk, so that another run can resume it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from autotest.results.sweep import Cell
from autotest.storage.records import Format, Records
from autotest.sweeping.units import Unit

FORMAT: Final = Format("autotest sweep under way", 5)


@dataclasses.dataclass(frozen=True, slots=True)
class SweepRequest:
    """The arguments of a sweep that a resumed sweep must share."""

    expression: str
    seed: int
    calls: str
    candidate: str


def journal_path(directory: Path, shard: tuple[int, int]) -> Path:
    """Return the path of the journal for the last sweep of a shard."""
    return directory / "sweeps" / "{}-of-{}".format(*shard)


class Journal:
    """Appends the outcomes of units to a file. If writing fails, `trouble` is set and nothing more is written."""

    def __init__(self, path: Path, *, resumed: bool = False) -> None:
        self._records = Records(path, resumed=resumed)

    @property
    def trouble(self) -> str:
        """The reason why the file lacks the latest outcomes; empty if it is complete."""
        return self._records.trouble

    def begin(self, asked: SweepRequest) -> None:
        """Write the header, which describes the sweep."""
        self._records.begin(FORMAT.header(asked))

    def resumed(self) -> None:
        """Discard the parts of unfinished units written so far: these units are judged again."""
        self._records.add(None)

    def add(self, unit: Unit, cell: Cell, done: bool) -> None:
        """Record the outcome of some samples of a unit, and whether these were the last."""
        self._records.add((name_of(unit), cell, done))

    def close(self) -> None:
        """Close the file."""
        self._records.close()


def name_of(unit: Unit) -> str:
    """Return the name of a unit, which is the same in every run."""
    return f"{unit.database}/{unit.key}/{unit.kind}" + (f"/{unit.turn}" if unit.turn else "")


def read(path: Path) -> tuple[SweepRequest, Mapping[str, list[Cell]]]:
    """Return the arguments of the sweep recorded in `path`, and the outcomes of the units that were finished.

    Raises:
        UsageError: There is no such file, or this version cannot read it.
    """
    asked, written = FORMAT.resumed(path, SweepRequest)
    done: dict[str, list[Cell]] = {}
    parts: dict[str, list[Cell]] = {}
    for record in written:
        if record is None:
            parts.clear()
            continue
        name, cell, over = record
        parts.setdefault(name, []).append(cell)
        if over:
            done.setdefault(name, []).extend(parts.pop(name))  # extend: other machines may have judged it again
    return asked, done
