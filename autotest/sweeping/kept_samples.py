"""Keeps samples that took long to make in files, for other units of their cell and for other workers."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from autotest.frameworks.samples import Sample, SampleDatabase, SampleKind
from autotest.sweeping.units import Unit

#: Seconds of the processor from which on samples are kept: those that a search finds.
_LONG: Final = 0.05
#: Arrays of more bytes than this are made anew.
_LARGEST: Final = 1 << 22


class KeptSamples:
    """Ordinary samples of cells, in a folder that the workers of one sweep share; without one, nothing is kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def ordinary(self, unit: Unit, database: SampleDatabase) -> Iterator[Sample]:
        """The samples of kind ``"sample"`` of the cell of `unit`, the same whether they were kept or are made."""
        return self._of_kind("sample", unit, database)

    def optioned(self, unit: Unit, database: SampleDatabase) -> Iterator[Sample]:
        """Those with an optional argument more or fewer; none where the database has none."""
        return self._of_kind("option", unit, database) if unit.optioned else iter(())

    def _of_kind(self, kind: SampleKind, unit: Unit, database: SampleDatabase) -> Iterator[Sample]:
        path = None if self._folder is None else self._folder / f"{_name(kind, unit)}.samples"
        if path is not None:
            with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError):
                yield from pickle.loads(path.read_bytes())
                return
        key = unit.key
        began, made = time.process_time(), []
        spent = 0.0
        for sample in database.samples(key.operator, key.form, key.dtype, kind, unit.seed):  # type: ignore[arg-type]
            spent += time.process_time() - began
            made.append(sample)
            yield sample
            # What is done with a sample in between is not the making.
            began = time.process_time()
        if path is not None and spent + time.process_time() - began > _LONG and _size(made) <= _LARGEST:
            _write(path, made)


def _size(made: list[Sample]) -> int:
    return sum(array.data.nbytes for sample in made if sample.program is not None for array in sample.program.arrays)


def _write(path: Path, made: list[Sample]) -> None:
    beside = path.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):  # a full disk costs the time of making them again
        beside.write_bytes(pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL))
        beside.replace(path)


def _name(kind: SampleKind, unit: Unit) -> str:
    return hashlib.blake2b(f"{kind}/{unit.database}/{unit.key}/{unit.seed}".encode(), digest_size=12).hexdigest()
