"""Judges a unit sample by sample, handing in what they showed every now and then."""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Iterable, Iterator
from typing import Final

from autotest.frameworks import Pair
from autotest.frameworks.samples import Sample, SampleDatabase
from autotest.program import Program
from autotest.results.sweep import Cell
from autotest.sources.harvested import HarvestedCalls
from autotest.sweeping.counting import count, count_death
from autotest.sweeping.judging import Judge
from autotest.sweeping.kept_samples import KeptSamples
from autotest.sweeping.lacking import Lacking
from autotest.sweeping.sampling import samples
from autotest.sweeping.trail import Running, Trail
from autotest.sweeping.units import FIRST, Unit

#: Seconds after which what was found so far is handed in, so that a death costs no more than that.
_HAND_IN: Final = 0.2
#: Samples of a unit that are looked at more closely, whatever they are: run twice, written into, differentiated twice.
_CLOSELY: Final = 3
#: How many of a unit's samples are looked at so (but for a second derivative), if their inputs are of unlike kinds.
_UNLIKE: Final = 8
#: Samples of these kinds are run in double precision, too.
_MEASURED: Final = frozenset(("sample", "reference", "hard"))


@dataclasses.dataclass(frozen=True, slots=True)
class JudgedPart:
    """What the samples of a unit up to `upto` showed that were not handed in before."""

    upto: int
    cell: Cell
    #: Whether these were the last.
    done: bool
    #: What of the arguments matters that ended a worker before; empty where none did.
    deadly: str = ""
    #: Seconds that the slowest of them took which ran.
    slowest: float = 0.0


def judged(
    unit: Unit,
    pair: Pair,
    database: SampleDatabase,
    trail: Trail | None = None,
    kept: KeptSamples | None = None,
    lacking: Lacking | None = None,
) -> Iterator[JudgedPart]:
    """Judge the samples of `unit`, unless the candidate lacks all that they need."""
    lacking = lacking or Lacking(pair)
    lacks = lacking.of_cell(unit.path, unit.key.dtype)
    if lacks:
        cell = Cell()
        cell.absent, cell.lacks = lacks
        cell.check("exists", passed=False)
        yield JudgedPart(0, cell, done=True)
    else:
        yield from judged_samples(unit, samples(unit, database, kept), pair, trail, lacking)


def judged_samples(
    unit: Unit, made: Iterable[Sample], pair: Pair, trail: Trail | None = None, lacking: Lacking | None = None
) -> Iterator[JudgedPart]:
    """Judge samples of `unit` from the one on where it starts."""
    judge = Judge(pair, trail.runs if trail is not None else lambda running: None, unit.deadly, lacking)
    cell = Cell()
    handed_in = time.monotonic()
    slowest = 0.0
    index = -1
    kinds: set[object] = set()
    asking: set[tuple[bool, ...]] = set()
    for index, sample in enumerate(itertools.islice(made, unit.stop)):
        closely = index < _CLOSELY
        if sample.program is not None:
            # For inference other code is called.
            asks = tuple(call.kwargs["requires_grad"] for call in sample.program.inputs())
            closely |= asks not in asking and len(asking) < _UNLIKE
            asking.add(asks)
            if len(kinds) < _UNLIKE:
                seen = len(kinds)
                kinds.add(_kind_of_inputs(sample.program))
                closely |= len(kinds) > seen
        if index < unit.start:
            continue
        if trail is not None:
            trail.sample(unit.number, index)
        began = time.monotonic()
        killed = _judge_one(unit, index, sample, judge, cell, closely=closely)
        if trail is not None:
            trail.over()
        ended = time.monotonic()
        if index not in unit.ended:  # looking into one that ended a process is nothing that an operator does
            slowest = max(slowest, ended - began)
        if killed or ended - handed_in > _HAND_IN:
            yield JudgedPart(index + 1, cell, done=False, deadly=killed, slowest=slowest)
            cell, handed_in = Cell(), time.monotonic()
    yield JudgedPart(index + 1, cell, done=True, slowest=slowest)


def _kind_of_inputs(program: Program) -> object:
    """Whether its inputs have dimensions and elements, and the views of them: on that hangs what shares memory."""
    shapes = [program.arrays[call.args[0].index].data.shape for call in program.inputs()]
    views = [call.target for call in program.calls if call.note == "view"]
    return tuple((len(shape), min(math.prod(shape), 2)) for shape in shapes), tuple(views)


def _judge_one(unit: Unit, index: int, sample: Sample, judge: Judge, cell: Cell, *, closely: bool) -> str:
    """Judge one sample and count it, whatever comes of it; returns its arguments if it ended a worker before."""
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
            # Of a program that was harvested it is asked whether its calls work: it differentiates them once.
            twice = closely and index < _CLOSELY and unit.database != HarvestedCalls.name
            found = judge.judge(sample.program, closely=closely, twice=twice, gaps=gaps, measure=measure)
        except MemoryError:
            cell.left_out["not enough memory"] += 1
            return ""
        except Exception as error:  # noqa: BLE001 - a fault of this library costs one sample, and is told
            cell.left_out[f"could not be judged: {type(error).__name__}: {str(error)[:200]}"] += 1
            return ""
        count(cell, found, f"{unit.kind} {index}")
    return ""
