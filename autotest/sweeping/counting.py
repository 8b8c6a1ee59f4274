"""Adds what one sample showed, or that it ended a process, to its cell."""

from __future__ import annotations

import contextlib
import enum
import os
import signal
import time
from collections.abc import Callable
from typing import Final

from autotest.diagnosis.agreement import results
from autotest.program import Program, operator_of
from autotest.program.reduction import elements
from autotest.results.sweep import Cell, CellDivergence, Check
from autotest.sweeping.coverage import public_name
from autotest.sweeping.judgement import SampleJudgement
from autotest.sweeping.judging import Judge
from autotest.sweeping.novelty import features
from autotest.sweeping.trail import Running
from autotest.sweeping.units import Ended

#: Seconds that a fork may take with a sample that ended a process, and how often it is run.
_ALONE, _DAMAGED = 8.0, 4
#: Seconds that it may take where forks are known to give no answer: waiting says no more than that it is so here, too.
_UNFORKED: Final = 2.0
#: Bytes of the largest program that is handed in with a divergence.
_LARGEST: Final = 1 << 22


def count(cell: Cell, found: SampleJudgement, sample: str) -> None:
    """Add what one sample showed to its cell."""
    if found.absent:
        cell.left_out[found.absent] += 1
        cell.absent, cell.lacks = found.absent, found.lacks
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
    cell.features |= features(found)
    if found.accuracy is not None:
        cell.measured(found.accuracy)
    if not found.refused:
        cell.called.update(filter(None, map(public_name, found.program.calls)))
    for check, passed in found.checks.items():
        cell.check(check, passed)
    for failure in found.failures:
        cell.diverged(_divergence(failure.check, failure.key, failure.message, sample, failure.program))


def _divergence(
    check: Check, key: str, message: str, sample: str, program: Program, *, hangs: bool = False
) -> CellDivergence:
    size = sum(array.data.nbytes for array in program.arrays)
    kept = program if size <= _LARGEST else None
    return CellDivergence(check, key, message, sample, size=elements(program), program=kept, hangs=hangs)


class _Alone(enum.Enum):
    """What becomes of a process that runs a sample and nothing else."""

    LIVES = enum.auto()
    DIES = enum.auto()
    NO_ANSWER = enum.auto()


def count_death(ended: Ended, sample: str, program: Program, judge: Judge, cell: Cell, *, forks: bool = True) -> str:
    """Count a sample that ended a worker before, which is not run again; returns what of its arguments matters.

    `forks` says whether forks of this process answer, as far as is known.
    """
    # One process for both: it is the reference that finds out what is pushed back, too.
    reference_lives = ended.running is not Running.REFERENCE and (
        _alone(lambda: results(judge.whole(program)[0], judge.reference)) is _Alone.LIVES
    )
    if not reference_lives:
        cell.left_out["the reference ends the process, too"] += 1
        return ""
    operator = operator_of(program.calls, len(program.calls) - 1)
    whole, deadly, refused = judge.whole(program)
    if not ended.hung:
        seconds = _ALONE if forks else _UNFORKED
        alone = _alone(lambda: results(whole, judge.candidate), seconds)
        if alone is _Alone.LIVES:
            cell.left_out["ended a process that had run others, and does not end one alone"] += 1
            return ""
        if (
            alone is _Alone.DIES
            and whole is not program
            and _alone(lambda: results(program, judge.candidate), seconds) is not _Alone.LIVES
        ):
            whole = program  # it needs nothing that is pushed back
    cell.refused += refused
    cell.accepted += not refused
    cell.failed += not refused
    cell.check("exists", passed=True)
    cell.check("survives", passed=False)
    what = ended.how + (f": {ended.words}" if ended.words else "")
    key = f"dies: {ended.how}"
    message = f"{operator}: {judge.candidate.name} ends with {what}"
    cell.diverged(_divergence("survives", key, message, sample, whole, hangs=ended.hung))
    return deadly


def _alone(work: Callable[[], object], seconds: float = _ALONE) -> _Alone:
    """What becomes of a process that does `work` alone; it may die at once or, its memory damaged, a little later."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            for _ in range(_DAMAGED):
                # What works on its own threads may die only while it is read.
                work()
        os._exit(0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return _Alone.DIES if status else _Alone.LIVES
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return _Alone.NO_ANSWER
