"""Caches samples that took long to generate in files, for other units of their cell and other workers."""

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

#: Seconds of processor time for generating a cell's samples above which they are cached. Searches take this long.
_LONG: Final = 0.05
#: Samples whose arrays have more bytes than this in total are not cached.
_LARGEST: Final = 1 << 22


class SampleCache:
    """A cache of the samples of cells, in a folder shared by the workers of a sweep; without a folder, no cache."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def ordinary(self, unit: Unit, database: SampleDatabase) -> Iterator[Sample]:
        """Yield the samples of kind ``"sample"`` of the cell of `unit`; cached and generated samples are the same."""
        return self._of_kind("sample", unit, database)

    def optioned(self, unit: Unit, database: SampleDatabase) -> Iterator[Sample]:
        """Yield the samples of kind ``"option"``; none if the database has no such samples."""
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
            # Exclude the time that the caller spends between two samples.
            began = time.process_time()
        if path is not None and spent + time.process_time() - began > _LONG and _size(made) <= _LARGEST:
            _write(path, made)


def _size(made: list[Sample]) -> int:
    return sum(array.data.nbytes for sample in made if sample.program is not None for array in sample.program.arrays)


def _write(path: Path, made: list[Sample]) -> None:
    beside = path.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):  # if the disk is full, the samples are generated again
        beside.write_bytes(pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL))
        beside.replace(path)


def _name(kind: SampleKind, unit: Unit) -> str:
    return hashlib.blake2b(f"{kind}/{unit.database}/{unit.key}/{unit.seed}".encode(), digest_size=12).hexdigest()
