"""Adds the outcome of one sample, or the death of the process that ran it, to the sample's cell."""

from __future__ import annotations

import contextlib
import enum
import os
import signal
import time
from collections.abc import Callable
from typing import Final

from autotest.processes.endings import double_memory_limit
from autotest.program import Program, operator_of
from autotest.program.reduction import elements
from autotest.replaying.agreement import results
from autotest.results.sweep import Cell, CellDivergence, Check
from autotest.sweeping.coverage import public_name
from autotest.sweeping.judgement import SampleJudgement
from autotest.sweeping.judging import Judge
from autotest.sweeping.novelty import features
from autotest.sweeping.units import Ended
from autotest.sweeping.worker_position import Running

#: Seconds that a fork gets for a sample that ended a process before, and how many times the fork runs the sample: a
#: process whose memory is damaged may die only at a later run.
_ALONE, _DAMAGED = 8.0, 4
#: Seconds that the fork gets if forks are known to hang here: a longer wait would give no more information.
_UNFORKED: Final = 2.0
#: Bytes of the largest program that is sent along with a divergence.
_LARGEST: Final = 1 << 22


def count(cell: Cell, found: SampleJudgement, sample: str) -> None:
    """Add the outcome of one sample to its cell."""
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
    """How a process ended that ran one sample and nothing else."""

    LIVES = enum.auto()
    DIES = enum.auto()
    NO_ANSWER = enum.auto()


def count_death(ended: Ended, sample: str, program: Program, judge: Judge, cell: Cell, *, forks: bool = True) -> str:
    """Count a sample that ended a worker before, without running it here; return the summary of its arguments.

    `forks` is whether forks of this process are known to respond. The returned text is empty if the candidate is not
    to blame.
    """
    # One process runs both, forward and backward: the reference's results determine the cotangents.
    reference_lives = ended.running is not Running.REFERENCE and (
        _alone(lambda: results(judge.whole(program).program, judge.reference)) is _Alone.LIVES
    )
    if not reference_lives:
        cell.left_out["the reference crashes or hangs, too"] += 1
        return ""
    operator = operator_of(program.calls, len(program.calls) - 1)
    whole, deadly, refused = judge.whole(program)
    if not ended.hung:
        seconds = _ALONE if forks else _UNFORKED
        alone = _alone(lambda: results(whole, judge.candidate), seconds)
        if alone is _Alone.LIVES:
            cell.left_out["crashed or hung after other samples in the same process, but not alone"] += 1
            return ""
        if (
            alone is _Alone.DIES
            and whole is not program
            and _alone(lambda: results(program, judge.candidate), seconds) is not _Alone.LIVES
        ):
            whole = program  # the forward alone is enough
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
    """Return how a process ends that does `work` alone, several times: damaged memory may kill it only later."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            double_memory_limit()
            for _ in range(_DAMAGED):
                # A framework that works asynchronously may die only when the results are read.
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
