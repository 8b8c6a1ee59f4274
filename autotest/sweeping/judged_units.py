"""Judges a unit sample by sample, and yields the outcomes at short intervals."""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Iterable, Iterator
from typing import Final

from autotest.frameworks import Pair
from autotest.frameworks.samples import Sample, SampleDatabase
from autotest.program import VIEW, Program
from autotest.results.sweep import Cell
from autotest.sources.harvested import HarvestedCalls
from autotest.sweeping.counting import count, count_death
from autotest.sweeping.judging import Judge
from autotest.sweeping.lacking import Lacking
from autotest.sweeping.sample_cache import SampleCache
from autotest.sweeping.sampling import samples
from autotest.sweeping.units import FIRST, Unit
from autotest.sweeping.worker_position import PositionFile, Running

#: Seconds after which the outcomes so far are yielded, so that a crash loses no more than that.
_SECONDS_PER_PART: Final = 0.2
#: First samples of a unit that are always examined closely: run twice, written into, differentiated twice.
_CLOSELY: Final = 3
#: At most this many different kinds of inputs per unit are examined closely, without the second derivative.
_UNLIKE: Final = 8
#: Kinds of samples whose accuracy is measured by running them in double precision.
_MEASURED: Final = frozenset(("sample", "reference", "hard"))


@dataclasses.dataclass(frozen=True, slots=True)
class JudgedPart:
    """The outcome of the samples of a unit before `upto` that no earlier part contains."""

    upto: int
    cell: Cell
    #: Whether this is the last part.
    done: bool
    #: Summary of the arguments that ended a worker before; empty if the part contains no such sample.
    deadly: str = ""
    #: Seconds that the slowest of its samples took, samples that ended a worker before excluded.
    slowest: float = 0.0


def judged(
    unit: Unit,
    pair: Pair,
    database: SampleDatabase,
    position_file: PositionFile | None = None,
    kept: SampleCache | None = None,
    lacking: Lacking | None = None,
) -> Iterator[JudgedPart]:
    """Judge the samples of `unit`; only record the absence if the candidate lacks the operator or the dtype."""
    lacking = lacking or Lacking(pair)
    lacks = lacking.of_cell(unit.path, unit.key.dtype)
    if lacks:
        cell = Cell()
        cell.absent, cell.lacks = lacks
        cell.check("exists", passed=False)
        yield JudgedPart(0, cell, done=True)
    else:
        yield from judged_samples(unit, samples(unit, database, kept), pair, position_file, lacking)


def judged_samples(
    unit: Unit,
    made: Iterable[Sample],
    pair: Pair,
    position_file: PositionFile | None = None,
    lacking: Lacking | None = None,
) -> Iterator[JudgedPart]:
    """Judge the samples `made` for `unit`, from index `unit.start` on."""
    judge = Judge(pair, position_file.runs if position_file is not None else lambda running: None, unit.deadly, lacking)
    cell = Cell()
    handed_in = time.monotonic()
    slowest = 0.0
    index = -1
    kinds: set[object] = set()
    asking: set[tuple[bool, ...]] = set()
    for index, sample in enumerate(itertools.islice(made, unit.stop)):
        closely = index < _CLOSELY
        if sample.program is not None:
            # Without requires_grad, frameworks run other code, so each combination is examined.
            asks = tuple(call.kwargs["requires_grad"] for call in sample.program.inputs())
            closely |= asks not in asking and len(asking) < _UNLIKE
            asking.add(asks)
            if len(kinds) < _UNLIKE:
                seen = len(kinds)
                kinds.add(_kind_of_inputs(sample.program))
                closely |= len(kinds) > seen
        if index < unit.start:
            continue
        if position_file is not None:
            position_file.sample(unit.number, index)
        began = time.monotonic()
        killed = _judge_one(unit, index, sample, judge, cell, closely=closely)
        if position_file is not None:
            position_file.over()
        ended = time.monotonic()
        if index not in unit.ended:  # the time for a sample that ended a process says nothing about the operator
            slowest = max(slowest, ended - began)
        if killed or ended - handed_in > _SECONDS_PER_PART:
            yield JudgedPart(index + 1, cell, done=False, deadly=killed, slowest=slowest)
            cell, handed_in = Cell(), time.monotonic()
    yield JudgedPart(index + 1, cell, done=True, slowest=slowest)


def _kind_of_inputs(program: Program) -> object:
    """Return the ranks, the sizes (0, 1 or more elements) and the views of the inputs.

    Whether results share memory depends on these.
    """
    shapes = [program.arrays[call.args[0].index].data.shape for call in program.inputs()]
    views = [call.target for call in program.calls if call.note == VIEW]
    return tuple((len(shape), min(math.prod(shape), 2)) for shape in shapes), tuple(views)


def _judge_one(unit: Unit, index: int, sample: Sample, judge: Judge, cell: Cell, *, closely: bool) -> str:
    """Judge one sample and count it; return the summary of its arguments if it ended a worker before."""
    ended = unit.ended.get(index)
    if sample.program is None:
        cell.left_out[sample.left_out] += 1
    elif ended is not None and ended.early and ended.running is not Running.PROBE:
        cell.left_out[ended.how] += 1
    elif ended is not None and ended.running is not Running.PROBE:
        killed = count_death(ended, f"{unit.kind} {index}", sample.program, judge, cell, forks=not unit.unforked)
        judge.note_deadly(killed)
        return killed
    elif unit.abandoned:
        cell.left_out[unit.abandoned] += 1
    else:
        try:
            gaps = unit.kind in ("noncontiguous", "mutation") and index % 2 == 0
            measure = unit.kind in _MEASURED and unit.key.form in FIRST
            closely = closely and ended is None
            # A harvested program only shows whether its calls work; differentiating them once is enough.
            twice = closely and index < _CLOSELY and unit.database != HarvestedCalls.name
            found = judge.judge(sample.program, closely=closely, twice=twice, gaps=gaps, measure=measure)
        except MemoryError:
            cell.left_out["not enough memory"] += 1
            return ""
        except Exception as error:  # noqa: BLE001 - an error in this library costs one sample, and is reported
            cell.left_out[f"could not be judged: {type(error).__name__}: {str(error)[:200]}"] += 1
            return ""
        count(cell, found, f"{unit.kind} {index}")
    return ""
