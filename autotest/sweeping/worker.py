"""What a worker process of a sweep does: it lists what there is, and judges units sample by sample."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import numpy as np

from autotest.base.errors import FrameworkMissing
from autotest.frameworks import Framework, Pair, chosen
from autotest.frameworks.samples import Entry, Sample, SampleDatabase
from autotest.processes.endings import limit_memory
from autotest.program import Program, operator_of
from autotest.replaying.replay import replay
from autotest.results.sweep import Cell, CellKey, Check, Divergence
from autotest.sources.mutations import mutations
from autotest.sweeping.judgement import Judgement
from autotest.sweeping.judging import Judge
from autotest.sweeping.trail import Trail
from autotest.sweeping.units import FIRST, Unit, digest

#: Seconds after which what was found so far is handed in, so that a death costs no more than that.
_HAND_IN: Final = 0.2
#: Samples of a unit that are looked at more closely: run twice, written into.
_CLOSELY: Final = 2
#: About how many samples of a unit are mutated; into how many, by dtype, and elsewhere.
_MUTATED: Final = 24
_MUTATIONS: Final[Mapping[str, int]] = {"float32": 80, "int64": 48}
_FEW: Final = 24
#: Seconds that the reference may take alone with a sample that ended a process, and how often it is asked.
_ALONE, _DAMAGED = 20.0, 4
#: Bytes of the largest program that is handed in with a divergence.
_LARGEST: Final = 1 << 22


@dataclasses.dataclass(frozen=True, slots=True)
class Listed:
    """What there is to sweep."""

    sides: tuple[str, str]
    versions: dict[str, str]
    entries: list[Entry]
    #: Databases that are not to be had, each with its reason.
    notes: list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """What the samples of a unit up to `upto` showed that were not handed in before."""

    upto: int
    cell: Cell
    #: Whether these were the last.
    done: bool
    #: What of the arguments matters that ended a worker before; empty where none did.
    deadly: str = ""


def list_entries(
    connection: Connection, server: socket.socket, databases: Sequence[SampleDatabase] | None = None
) -> None:
    """Send a `Listed`, or the error that says why there is none."""
    try:
        connection.send(listed(chosen(), databases))
    except FrameworkMissing as error:
        connection.send(error)


def listed(pair: Pair, databases: Sequence[SampleDatabase] | None = None) -> Listed:
    """The entries of `databases`, or of all that the reference has."""
    sides = (pair.reference, pair.candidate)
    versions = {side.name: side.version for side in sides}
    entries: list[Entry] = []
    notes: list[str] = []
    for database in pair.reference.sample_databases() if databases is None else databases:
        entries.extend(_entries(database, notes))
    return Listed(pair.sides, versions, entries, notes)


def _entries(database: SampleDatabase, notes: list[str]) -> Sequence[Entry]:
    try:
        return database.entries()
    except FrameworkMissing as error:
        notes.append(f"{database.name}: {error}")
        return ()


def work(
    connection: Connection,
    server: socket.socket,
    trail_path: Path,
    memory: int | None,
    databases: Sequence[SampleDatabase] | None = None,
) -> None:
    """Judge the units that are received, until the connection ends."""
    trail = Trail(trail_path)
    pair = chosen()
    if memory is not None:
        limit_memory(pair, memory)
    asked = pair.reference.sample_databases() if databases is None else databases
    by_name = {database.name: database for database in asked}
    with pair.around_trials(), np.errstate(all="ignore"):
        while True:
            unit: Unit = connection.recv()
            for part in judged(unit, pair, by_name[unit.database], trail):
                connection.send(part)
            trail.rest()


def judged(unit: Unit, pair: Pair, database: SampleDatabase, trail: Trail | None = None) -> Iterator[Part]:
    """Judge the samples of `unit`, handing in what they showed every now and then."""
    judge = Judge(pair, trail.asks if trail is not None else lambda side: None, unit.deadly)
    cell = Cell()
    lacking = judge.lacks_all(unit.path, unit.key.dtype)
    if lacking:
        cell.absent = lacking
        cell.check("exists", passed=False)
        yield Part(0, cell, done=True)
        return
    handed_in = time.monotonic()
    index = -1
    for index, sample in enumerate(_samples(unit, database)):
        if index < unit.start:
            continue
        if trail is not None:
            trail.sample(unit.number, index)
        killed = _judge_one(unit, index, sample, judge, cell)
        if killed or time.monotonic() - handed_in > _HAND_IN:
            yield Part(index + 1, cell, done=False, deadly=killed)
            cell, handed_in = Cell(), time.monotonic()
    yield Part(index + 1, cell, done=True)


def _samples(unit: Unit, database: SampleDatabase) -> Iterator[Sample]:
    """What a unit is made of."""
    key = unit.key
    if unit.kind != "mutation":
        yield from database.samples(key.operator, key.form, key.dtype, unit.kind, unit.seed)  # type: ignore[arg-type]
        return
    originals = database.samples(key.operator, key.form, key.dtype, "sample", unit.seed)  # type: ignore[arg-type]
    programs = [sample.program for sample in originals if sample.program is not None]
    # Of many samples, some that lie far apart.
    some = programs[:: max(1, len(programs) // _MUTATED)]
    for _, mutated in mutations(some, digest(unit.seed, key.form), _times(key)):
        if not _belongs_elsewhere(mutated, unit):
            yield Sample(mutated)


def _belongs_elsewhere(program: Program, unit: Unit) -> bool:
    """Whether it has no tensor of its cell's dtype any more, but of others that have cells of their own."""
    dtypes = {call.target for call in program.inputs()}
    return unit.key.dtype not in dtypes and not dtypes.isdisjoint(unit.dtypes)


def _times(key: CellKey) -> int:
    """How many mutations a cell is worth: most in the forms and dtypes that everything has, some in the others."""
    if key.form in FIRST:
        return _MUTATIONS.get(key.dtype, _FEW)
    return _FEW


def _kills(program: Program, framework: Framework) -> bool:
    """Whether `framework` alone ends a process with `program`, at once or, its memory damaged, a little later."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            for _ in range(_DAMAGED):
                replay(program, framework)
        os._exit(0)
    end = time.monotonic() + _ALONE
    while time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status != 0
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return True


def _judge_one(unit: Unit, index: int, sample: Sample, judge: Judge, cell: Cell) -> str:
    """Judge one sample and count it, whatever comes of it; returns its arguments if it ended a worker before."""
    ended = unit.ended.get(index)
    if sample.program is None:
        cell.left_out[sample.left_out] += 1
    elif ended is not None and ended.side != 2:
        return _count_death(unit, index, sample.program, judge, cell)
    elif unit.abandoned:
        cell.left_out[unit.abandoned] += 1
    else:
        try:
            gaps = unit.kind in ("noncontiguous", "mutation") and index % 2 == 0
            found = judge.judge(sample.program, closely=index < _CLOSELY and ended is None, gaps=gaps)
        except MemoryError:
            cell.left_out["not enough memory"] += 1
            return ""
        except Exception as error:  # noqa: BLE001 - a fault of this library costs one sample, and is told
            cell.left_out[f"could not be judged: {type(error).__name__}: {str(error)[:200]}"] += 1
            return ""
        count(cell, found, f"{unit.kind} {index}")
    return ""


def count(cell: Cell, found: Judgement, sample: str) -> None:
    """Add what one sample showed to its cell."""
    if found.absent:
        cell.left_out[found.absent] += 1
        cell.absent = found.absent
        return
    if found.left_out:
        cell.left_out[found.left_out] += 1
        return
    cell.check("exists", passed=True)
    cell.check("survives", passed=True)
    cell.refused += found.refused
    cell.accepted += not found.refused
    cell.failed += found.failed
    cell.vacuous += found.vacuous
    cell.rounded += found.rounded
    for check, passed in found.checks.items():
        cell.check(check, passed)
    for failure in found.failures:
        cell.diverged(_divergence(failure.check, failure.key, failure.message, sample, failure.program))


def _divergence(check: Check, key: str, message: str, sample: str, program: Program) -> Divergence:
    size = sum(array.data.nbytes for array in program.arrays)
    elements = sum(array.data.size for array in program.arrays)
    kept = program if size <= _LARGEST else None
    return Divergence(check, key, message, sample, size=elements, program=kept)


def _count_death(unit: Unit, index: int, program: Program, judge: Judge, cell: Cell) -> str:
    """Count a sample that ended a worker before, which is not run again; returns what of its arguments matters."""
    side, how, words = unit.ended[index]
    if side == 0 or _kills(program, judge.reference):
        cell.left_out["the reference ends the process, too"] += 1
        return ""
    operator = operator_of(program.calls, len(program.calls) - 1)
    program, deadly = judge.whole(program)
    cell.accepted += 1
    cell.failed += 1
    cell.check("exists", passed=True)
    cell.check("survives", passed=False)
    what = how + (f": {words}" if words else "")
    key = f"dies: {how}"
    message = f"{operator}: {judge.candidate} ends with {what}"
    cell.diverged(_divergence("survives", key, message, f"{unit.kind} {index}", program))
    return deadly


__all__ = ["Listed", "Part", "count", "judged", "list_entries", "listed", "work"]
