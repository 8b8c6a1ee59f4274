"""Distributes the units of a sweep to worker processes and reports their outcomes, even if workers die."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Final

from autotest.base.errors import AutotestError
from autotest.base.temporary_folders import own_folder
from autotest.processes.client import START_UP, Process, Server, ServerLost
from autotest.processes.endings import describe, last_words
from autotest.results.sweep import Cell, CellKey
from autotest.results.sweep_findings import SweepFinding
from autotest.sweeping import verifying, worker_position
from autotest.sweeping.explaining import explained
from autotest.sweeping.judged_units import JudgedPart
from autotest.sweeping.timeouts import TimeoutPolicy
from autotest.sweeping.units import NO_ANSWER, OF_ORDINARY, Ended, Unit, after_end, was_counted
from autotest.sweeping.worker import Databases, SweepListing, list_entries, work
from autotest.sweeping.worker_position import Running

#: Modules that a worker imports before it is forked, with and without the reference's own databases.
_PRELOADED: Final = ("autotest.sweeping.preload",)
_WITHOUT_DATABASES: Final = ("autotest.sweeping.worker",)

#: Reason for samples left out because the sweep ran out of time.
NO_TIME: Final = "no time for the rest of its samples"
#: Beginning of the reason for a unit that was lost, because two workers ended before they began it.
NOT_BEGUN: Final = "its workers ended before they began it"
#: Called with a unit, the outcome of some of its samples, and whether these were the last.
ReportCell = Callable[[Unit, Cell, bool], None]


_OWN: Final = Databases()
_NO_UNIT: Final = Unit(-1, "", CellKey("", "", ""), "sample", 0)


@dataclasses.dataclass(slots=True)
class _Worker:
    number: int
    position_path: Path
    log: Path
    process: Process
    unit: Unit = _NO_UNIT
    upto: int = 0
    #: Time at which it got its unit, as `time.monotonic`.
    given: float = 0.0
    #: Seconds without a response after which it was killed; 0 if it was not.
    given_up: float = 0.0


def modules_to_preload(own: bool) -> tuple[str, ...]:
    """Return the modules to preload, besides the frameworks. Reading the reference's own databases takes seconds."""
    return _PRELOADED if own else _WITHOUT_DATABASES


class SweepEngine:
    """Worker processes that judge units. Use it as a context manager.

    Args:
        jobs: number of workers that run at a time.
        deadline: seconds after which a sample counts as a hang.
        memory: bytes that a worker may allocate beyond what the frameworks take; None for no limit.
        databases: the databases to sweep; the reference's own if left out.
        server: forks the workers, and is closed with the engine; a new server if left out.
    """

    def __init__(
        self,
        jobs: int,
        deadline: float = 20.0,
        memory: int | None = None,
        databases: Databases = _OWN,
        *,
        server: Server | None = None,
    ) -> None:
        self._jobs = jobs
        self._timeouts = TimeoutPolicy(deadline)
        self._memory = memory
        self._databases = databases
        self.server = server or Server(modules_to_preload(databases.own))
        self._folder = own_folder("autotest-sweep-")
        self._workers: dict[int, _Worker] = {}
        #: Workers without a unit.
        self._idle: list[_Worker] = []
        #: A worker started in advance, to replace the next one that dies.
        self._spare: _Worker | None = None
        self._made = 0
        self._died_before = False
        #: database, cell -> why its ordinary samples could not be generated
        self._ungenerated: dict[tuple[str, CellKey], str] = {}
        #: operator, without its variant -> summaries of arguments that ended processes, with counts
        self._deadly: dict[str, collections.Counter[str]] = {}

    def __enter__(self) -> SweepEngine:
        return self

    def __exit__(self, *details: object) -> None:
        for worker in (*self._workers.values(), *self._idle, *filter(None, [self._spare])):
            with contextlib.suppress(OSError):
                worker.process.close()
        self.server.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def listed(self) -> SweepListing:
        """Return everything that can be swept.

        Raises:
            FrameworkMissing: a framework is missing.
            UsageError: the chosen pair of frameworks is invalid.
            AutotestError: the databases could not be listed.
        """
        log = self._folder / "list.log"
        process = self.server.process(list_entries, self._databases, log=log)
        try:
            if not process.connection.poll(START_UP):
                raise AutotestError(
                    f"the frameworks were not imported within {START_UP:g} s: try again when the machine is less busy"
                )
            answer = process.connection.recv()
        except (EOFError, OSError) as error:
            words = _read(log) or self.server.last_words() or str(error)
            raise AutotestError(f"the databases could not be listed: {words}") from error
        finally:
            process.close()
        if isinstance(answer, AutotestError):
            raise answer
        listed: SweepListing = answer
        return listed

    def run(self, units: Iterable[Unit], report: ReportCell, stop: Callable[[], bool] = lambda: False) -> None:
        """Judge all `units`; take each from the iterator only when a worker is free.

        Args:
            units: the units to judge.
            report: called with the outcome of some samples of a unit, as soon as a worker sends it.
            stop: returns whether to begin no more units; called before each unit.
        """
        fresh, more = iter(units), True
        #: The rest of units during which a worker died.
        again: collections.deque[Unit] = collections.deque()
        while again or more or self._workers:
            while (again or more) and len(self._workers) < self._jobs + self._late() and not stop():
                unit = again.popleft() if again else next(fresh, None)
                if unit is None:
                    more = False
                elif ungenerated := self._why_ungenerated(unit):
                    self._count_as_left_out(unit, ungenerated, report)
                else:
                    self._begin(unit)
            if not self._workers:
                break
            for worker in self._ready():
                rest = self._receive(worker, report)
                if rest is not None:
                    again.appendleft(rest)
            self._kill_overdue()
        for unit in again:
            # Nothing has been judged of the other units.
            if unit.start or unit.ended or unit.stop:
                self._count_as_left_out(unit, NO_TIME, report, done=False)

    def _kill_overdue(self) -> None:
        for worker in self._workers.values():
            seconds, patience = self._waited(worker)
            if seconds > patience:
                worker.given_up = patience
                worker.process.kill()

    def _why_ungenerated(self, unit: Unit) -> str:
        """Return why the samples of `unit` cannot be generated; empty if they may, or are known to have been."""
        if unit.stop or unit.kind not in OF_ORDINARY:
            return ""
        return self._ungenerated.get((unit.database, unit.key), "")

    @staticmethod
    def _count_as_left_out(unit: Unit, why: str, report: ReportCell, *, done: bool = True) -> None:
        """Count the rest of a unit as not judged."""
        cell = Cell()
        cell.left_out[why] += 1
        report(unit, cell, done)

    def diagnose_findings(self, findings: Sequence[SweepFinding], explain: float, verify: float) -> None:
        """Fill in verdicts and scripts of `findings`, then run the scripts, each within this many seconds."""
        explained(findings, self.server, self._jobs, explain)
        verifying.verify(findings, self.server, self._jobs, verify)

    def _begin(self, unit: Unit) -> None:
        if unit.orphaned:
            worker = self._fresh()  # idle workers and the spare may have ended as well
        elif self._idle:
            worker = self._idle.pop()
        else:
            worker = self._spare or self._fresh()
            # After a death, keep a spare worker that starts up in the meantime.
            self._spare = self._fresh() if self._died_before else None
        deadly = self._deadly.get(unit.key.name)
        if deadly:
            unit = dataclasses.replace(unit, deadly=dict(deadly))
        if not self._timeouts.forks(unit):
            unit = dataclasses.replace(unit, unforked=True)
        worker.unit, worker.upto, worker.given = unit, unit.start, time.monotonic()
        with contextlib.suppress(OSError):  # a dead worker is handled when its connection is read
            worker.process.connection.send(unit)
        self._workers[worker.number] = worker

    def _fresh(self) -> _Worker:
        self._made += 1
        path, log = self._folder / f"{self._made}.trail", self._folder / f"{self._made}.log"
        worker_position.create(path)
        process = self.server.process(work, path, log, self._memory, self._databases, log=log)
        return _Worker(self._made, path, log, process)

    def _ready(self) -> list[_Worker]:
        by_connection = {id(worker.process.connection): worker for worker in self._workers.values()}
        connections = [worker.process.connection for worker in self._workers.values()]
        return [by_connection[id(ready)] for ready in wait(connections, timeout=0.5)]

    def _receive(self, worker: _Worker, report: ReportCell) -> Unit | None:
        """Process a worker's message; return the rest of its unit if it died during the unit."""
        try:
            part: JudgedPart = worker.process.connection.recv()
        except (EOFError, OSError):
            return self._died(worker, report)
        worker.upto = part.upto
        self._timeouts.record_duration(worker.unit, part.slowest)
        if part.deadly:
            self._deadly.setdefault(worker.unit.key.name, collections.Counter())[part.deadly] += 1
        report(worker.unit, part.cell, part.done)
        if part.done:
            del self._workers[worker.number]
            if worker.given_up:
                worker.process.close()  # it answered just before it was killed
            else:
                self._idle.append(worker)
        return None

    def _waited(self, worker: _Worker) -> tuple[float, float]:
        """Return the seconds that a worker has spent on its current step, and the limit for that step."""
        position, now = worker_position.read(worker.position_path), time.monotonic()
        if position.unit != worker.unit.number:
            # The worker is still starting up.
            return now - worker.given, START_UP
        if position.generating:
            return now - position.began, self._timeouts.generation_timeout(worker.unit)
        # It runs a sample, or handles one that ended a process before.
        running = position.running
        return now - position.began, START_UP if running is Running.NOTHING else self._timeouts.step_timeout(
            worker.unit, running
        )

    def _late(self) -> int:
        """Return the number of workers that seem to hang; as many additional workers may run until that is certain."""
        late = 0
        for worker in self._workers.values():
            position = worker_position.read(worker.position_path)
            # A worker that starts up has no sample yet.
            begun = position.unit == worker.unit.number
            late += begun and time.monotonic() - position.began > self._timeouts.usual_duration(worker.unit)
        return min(late, self._jobs)

    def _died(self, worker: _Worker, report: ReportCell) -> Unit | None:
        del self._workers[worker.number]
        self._died_before = True
        position, unit, ended = worker_position.read(worker.position_path), worker.unit, self._ended(worker)
        worker.process.close()
        if position.unit != unit.number:
            return self._not_begun(unit, ended, report)
        endless = ended.hung and position.generating
        nothing = endless or position.running is Running.NOTHING
        if nothing or was_counted(unit, position.sample):
            # Not during a sample, but while generating samples.
            why = f"its samples could not be made: {ended.how} {ended.words}".strip()
            if endless:
                self._timeouts.record_slow_generation(unit)
                self._ungenerated[unit.database, unit.key] = why
            # Samples that were judged but not reported are judged again.
            lost = endless and position.sample >= worker.upto
            self._count_as_left_out(unit, why, report, done=not lost)
            return dataclasses.replace(unit, start=worker.upto, stop=position.sample + 1) if lost else None
        ended = ended._replace(running=position.running)
        if ended.hung:
            ended = self._timeouts.record_timeout(unit, ended, worker.given_up)
        return after_end(unit, worker.upto, position.sample, ended)

    def _not_begun(self, unit: Unit, ended: Ended, report: ReportCell) -> Unit | None:
        """Return a unit whose worker ended before it began, for another worker; count it as left out the second time.

        The candidate's threads may end a worker that has no unit, which says nothing about its next one.
        """
        if not unit.orphaned:
            return dataclasses.replace(unit, orphaned=True)
        # It is never done, so its cell does not count as tested completely.
        why = f"{NOT_BEGUN}: {ended.how} {ended.words}".strip()
        report(unit, Cell(left_out=collections.Counter({why: 1}), not_begun=1), False)
        return None

    def _ended(self, worker: _Worker) -> Ended:
        if worker.given_up:
            return Ended(Running.NOTHING, f"{NO_ANSWER} in {worker.given_up:.3g} s", "", hung=True)
        return Ended(Running.NOTHING, self._ending(worker.process), _read(worker.log))

    @staticmethod
    def _ending(process: Process) -> str:
        with contextlib.suppress(ServerLost, OSError):
            status = process.status(10.0)
            if status is not None:
                return describe(status)
        return "an unknown end"


def _read(log: Path) -> str:
    with contextlib.suppress(OSError):
        return last_words(log.read_text(errors="replace"))
    return ""
