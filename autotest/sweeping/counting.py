"""Adds what one sample showed, or that it ended a process, to its cell."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from typing import Final

from autotest.diagnosis.agreement import results
from autotest.program import Program, operator_of
from autotest.results.sweep import Cell, CellDivergence, Check
from autotest.sweeping.coverage import public_name
from autotest.sweeping.judgement import SampleJudgement
from autotest.sweeping.judging import Judge
from autotest.sweeping.novelty import features
from autotest.sweeping.trail import Running
from autotest.sweeping.units import Ended

#: Seconds that the reference may take alone with a sample that ended a process, and how often it is asked.
_ALONE, _DAMAGED = 8.0, 4
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
    elements = sum(array.data.size for array in program.arrays)
    kept = program if size <= _LARGEST else None
    return CellDivergence(check, key, message, sample, size=elements, program=kept, hangs=hangs)


def count_death(ended: Ended, sample: str, program: Program, judge: Judge, cell: Cell) -> str:
    """Count a sample that ended a worker before, which is not run again; returns what of its arguments matters."""
    # One process for both: it is the reference that finds out what is pushed back, too.
    if ended.running is Running.REFERENCE or _dies(lambda: results(judge.whole(program)[0], judge.reference)):
        cell.left_out["the reference ends the process, too"] += 1
        return ""
    operator = operator_of(program.calls, len(program.calls) - 1)
    whole, deadly, refused = judge.whole(program)
    if not ended.hung and not _dies(lambda: results(whole, judge.candidate)):
        cell.left_out["ended a process that had run others, and does not end one alone"] += 1
        return ""
    if whole is not program and not ended.hung and _dies(lambda: results(program, judge.candidate)):
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


def _dies(work: Callable[[], object]) -> bool:
    """Whether a process ends of `work` alone, at once or, its memory damaged, a little later."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            for _ in range(_DAMAGED):
                # What works on its own threads may die only while it is read.
                work()
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
