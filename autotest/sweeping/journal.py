"""What a sweep has found so far, on disk while it runs, so that another run can go on with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from autotest.results.sweep import Cell
from autotest.storage.records import Format, Records
from autotest.sweeping.units import Unit

FORMAT: Final = Format("autotest sweep under way", 4)


@dataclasses.dataclass(frozen=True, slots=True)
class SweepRequest:
    """What a sweep was asked for, and of whom."""

    expression: str
    seed: int
    calls: str
    candidate: str


def place(directory: Path, shard: tuple[int, int]) -> Path:
    """Where the last sweep of a shard is kept."""
    return directory / "sweeps" / "{}-of-{}".format(*shard)


class Journal:
    """Appends what samples of units showed. Where that fails, it says why and writes nothing more."""

    def __init__(self, path: Path, *, resumed: bool = False) -> None:
        self._records = Records(path, resumed=resumed)

    @property
    def trouble(self) -> str:
        """Why it lacks what happened last; empty if it does not."""
        return self._records.trouble

    def begin(self, asked: SweepRequest) -> None:
        """Say what is run."""
        self._records.begin(FORMAT.header(asked))

    def resumed(self) -> None:
        """What was handed in of units that had not come to their end counts no more: they are judged again."""
        self._records.add(None)

    def add(self, unit: Unit, cell: Cell, done: bool) -> None:
        """Note what some samples of a unit showed, and whether these were the last."""
        self._records.add((name_of(unit), cell, done))

    def close(self) -> None:
        """Close the file."""
        self._records.close()


def name_of(unit: Unit) -> str:
    """What a unit is called, in every run."""
    return f"{unit.database}/{unit.key}/{unit.kind}" + (f"/{unit.turn}" if unit.turn else "")


def read(path: Path) -> tuple[SweepRequest, Mapping[str, list[Cell]]]:
    """What the sweep in `path` was asked for, and what the units came to that had been judged to their end.

    Raises `UsageError` where there is none, or one that this version cannot read.
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
            done.setdefault(name, []).extend(parts.pop(name))  # again, where other machines judged it later
    return asked, done
