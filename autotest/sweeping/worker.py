"""The entry points of a sweep's worker processes: listing the entries, and judging units."""

from __future__ import annotations

import dataclasses
import socket
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import numpy as np

from autotest.base.errors import AutotestError, FrameworkMissing
from autotest.frameworks import Pair, chosen_pair
from autotest.frameworks.samples import DatabaseEntry, SampleDatabase
from autotest.processes.endings import limit_memory
from autotest.sweeping.coverage import shared_names
from autotest.sweeping.judged_units import judged
from autotest.sweeping.lacking import Lacking
from autotest.sweeping.sample_cache import SampleCache
from autotest.sweeping.sampling import samples
from autotest.sweeping.supervising import supervised
from autotest.sweeping.units import Unit
from autotest.sweeping.worker_position import PositionFile


@dataclasses.dataclass(frozen=True, slots=True)
class Databases:
    """The databases that samples are taken from."""

    #: Whether the reference's own databases are included.
    own: bool = True
    others: tuple[SampleDatabase, ...] = ()

    def of(self, pair: Pair) -> Sequence[SampleDatabase]:
        """Return all databases. If two databases have the same operator, the later one describes it."""
        return [*self.others, *(pair.reference.sample_databases() if self.own else ())]


_OWN: Final = Databases()


@dataclasses.dataclass(frozen=True, slots=True)
class SweepListing:
    """Everything that can be swept."""

    sides: tuple[str, str]
    versions: dict[str, str]
    entries: list[DatabaseEntry]
    #: Unavailable databases, each with the reason.
    notes: list[str]
    #: The public names that both sides have.
    shared: list[str]


def list_entries(connection: Connection, server: socket.socket, databases: Databases = _OWN) -> None:
    """Send a `SweepListing`, or the `AutotestError` that explains why there is none."""
    try:
        connection.send(listed(chosen_pair(), databases))
    except AutotestError as error:
        connection.send(error)


def listed(pair: Pair, databases: Databases = _OWN) -> SweepListing:
    """Return the entries of all databases."""
    entries: list[DatabaseEntry] = []
    notes: list[str] = []
    for database in databases.of(pair):
        entries.extend(_entries(database, notes))
    shared = shared_names(pair) if databases.own else []
    return SweepListing(pair.sides, pair.versions, entries, notes, shared)


def _entries(database: SampleDatabase, notes: list[str]) -> Sequence[DatabaseEntry]:
    try:
        return database.entries()
    except FrameworkMissing as error:
        notes.append(f"{database.name}: {error}")
        return ()


def work(
    connection: Connection,
    server: socket.socket,
    position_path: Path,
    log: Path,
    memory: int | None,
    databases: Databases = _OWN,
) -> None:
    """Judge the units that are received, until the connection ends."""
    position_file = PositionFile(position_path)
    kept = SampleCache(position_path.parent)
    pair = chosen_pair()
    if memory is not None:
        limit_memory(pair, memory)
    lacking = Lacking(pair)
    by_name = {database.name: database for database in databases.of(pair)}
    with pair.around_trials(), np.errstate(all="ignore"):
        while True:
            unit: Unit = connection.recv()
            position_file.unit(unit.number)
            database = by_name[unit.database]
            if unit.in_forks:
                parts = supervised(unit, list(samples(unit, database, kept)), pair, position_file, log)
            else:
                parts = judged(unit, pair, database, position_file, kept, lacking)
            for part in parts:
                connection.send(part)
            position_file.idle()
