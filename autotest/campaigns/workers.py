"""An executor that runs the tasks of a campaign in worker processes, each of which may crash."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import shutil
import socket
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as first_of
from pathlib import Path
from typing import Any

from autotest.base.errors import AutotestError, FrameworkMissing
from autotest.base.temporary_folders import SCRIPTS, TRACES, own_folder, remove_abandoned, remove_old
from autotest.campaigns.executor import MissingFramework, diagnosis_slots_for, is_of_hang
from autotest.campaigns.worker_breadcrumbs import current_activity, read_death
from autotest.processes import breadcrumb
from autotest.processes.client import START_UP, Process, Server, ServerLost
from autotest.processes.endings import ProcessDeath, death_from_status, killed_for_memory, last_words, timeout_death
from autotest.results.tasks import Conditions, Death, DiagnoseDeath, Explore, Explored, RanTrials, Result, Task
from autotest.running.deaths.attempts import RAN_BEFORE, last

#: Seconds for the diagnosis of one finding without shrinking: the referee, tracing, and running its reproducer; and the
#: seconds added for a death, whose trial is run many times if it does not die every time.
DIAGNOSIS, OFTEN = 100.0, 180.0
#: Age in seconds after which the folder of a campaign counts as abandoned. A running campaign updates its folder's time
#: whenever it starts or loses a worker.
_STALE = 7 * 24 * 3600
#: Seconds to wait for the exit status of a process whose connection has ended.
_GONE = 10.0
#: Modules that workers need in addition to the frameworks; also pytest, which most test files import.
PRELOADED = ("autotest.campaigns.worker", *(("pytest",) if find_spec("pytest") else ()))
#: Seconds after which an exploring task seems to hang, or twice the time of the longest task so far, if that is more.
_LATE = 4.0
#: How many process servers may be lost in a row without any of their workers having been ready: at the start, and
#: later, when workers are known to be able to start.
_LOST_AT_START, _LOST = 3, 25
#: How many workers may end in a row before they are ready, for example because somebody kills them for their memory.
_UNREADY = 3
#: With how many servers a task may be lost before it is given up: the task may be what ends them.
_LOST_WITH_TASK = 10


@dataclasses.dataclass(slots=True)
class _Worker:
    """One worker process and its current task."""

    process: Process
    log: Path
    #: Value of `killed_for_memory` before the worker was started.
    killed_before: int = 0
    #: Whether it has imported the frameworks.
    ready: bool = False
    task: Task | None = None
    #: The last trials that it has run.
    ran: tuple[RanTrials, ...] = ()
    #: Seconds that its task may take, and the monotonic time at which the task (or the start of the worker) began.
    seconds: float = 0.0
    begun: float = 0.0

    @property
    def overdue(self) -> float:
        """Monotonic time at which it counts as hanging.

        Exploring takes as long as its trials; a first task also imports the test file.
        """
        return self.begun + (self.seconds if self.ready else START_UP)


class Workers:
    """An executor with a pool of worker processes: `slots` of them explore, and others diagnose findings."""

    def __init__(
        self, conditions: Conditions, jobs: int, server: Server | None = None, *, in_turn: bool = False
    ) -> None:
        """Create the pool; `prepare` starts the workers.

        Args:
            conditions: the conditions of all tasks.
            jobs: how many workers explore.
            server: forks the workers and is closed with them; if None, the pool has its own server.
            in_turn: run the trials strictly one after the other. Otherwise, while a worker seems to hang and its
                deadline is not over yet, another one explores in its place.
        """
        self._jobs, self._in_turn = jobs, in_turn
        #: Seconds that the longest exploring task took.
        self._longest = 0.0
        self._conditions = conditions
        self._folder = breadcrumb.folder(conditions.directory.absolute()) / f"campaign-{os.getpid()}"
        self._server = server or Server(PRELOADED, frameworks=conditions.frameworks, ahead=not conditions.own_import)
        self._workers: dict[int, _Worker] = {}
        #: A spare worker, which starts while the others work; None until the first death.
        self._spare: _Worker | None = None
        self._numbers = 0
        #: How many servers were lost since a worker was last ready, and how many with each task, by the task's `id`.
        self._lost = 0
        self._lost_with: dict[int, int] = {}
        #: How many workers have ended before they were ready since one was.
        self._unready = 0

    @property
    def slots(self) -> int:
        return self._jobs + self.late

    @property
    def late(self) -> int:
        """Number of exploring workers that seem to hang; as many others may explore in their place."""
        return 0 if self._in_turn else min(sum(map(self._seems_to_hang, self._workers.values())), self._jobs)

    @property
    def diagnosis_slots(self) -> int:
        return diagnosis_slots_for(self._jobs, sum(is_of_hang(worker.task) for worker in self._workers.values()))

    def _seems_to_hang(self, worker: _Worker) -> bool:
        usual = max(_LATE, 2 * self._longest)
        return isinstance(worker.task, Explore) and worker.ready and time.monotonic() - worker.begun > usual

    def prepare(self) -> None:
        """Start the workers, and wait until one of them has imported the frameworks. Raises `FrameworkMissing`.

        Their files are in a temporary folder if the store cannot be written.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            remove_old(self._folder.parent.glob("campaign-*"), _STALE)
        except OSError:  # findings are kept elsewhere, too, if the store cannot be written
            self._folder = own_folder("autotest-campaign-")
        while True:
            try:
                first = self._first_ready()
                break
            except ServerLost as error:  # another process may have killed the server: try again
                self._lost += 1
                if self._lost == _LOST_AT_START:
                    raise AutotestError(
                        f"worker processes do not start: {self._server.last_words() or error}"
                    ) from error
                self._forget_workers()
                self._server.close()
        if not first.ready:
            raise AutotestError(f"worker processes do not start: {self._why(first)}")

    def _first_ready(self) -> _Worker:
        """Start new workers, wait until the first one is ready or has failed, and return it. Raises `ServerLost`."""
        for slot in range(self._jobs):
            self._workers[slot] = self._new()
        first = self._workers[0]
        with contextlib.suppress(EOFError, ConnectionResetError):
            if first.process.connection.poll(START_UP):
                self._has_started(first, first.process.connection.recv())
        if not first.ready:
            first.process.status(_GONE)
        return first

    def _new(self) -> _Worker:
        self._numbers += 1
        log = self._folder / f"worker-{self._numbers}.log"
        killed = killed_for_memory()
        process = self._server.process(_work, self._conditions.memory, log=log)
        return _Worker(process, log, killed, begun=time.monotonic())

    def _has_started(self, worker: _Worker, trouble: str) -> None:
        if trouble:
            raise FrameworkMissing(trouble)
        worker.ready, worker.begun = True, time.monotonic()
        self._lost = self._unready = 0

    def _why(self, worker: _Worker) -> str:
        with contextlib.suppress(OSError):
            return last_words(worker.log.read_text(errors="replace")) or self._server.last_words()
        return self._server.last_words()

    def start(self, task: Task) -> None:
        slot = next(slot for slot in itertools.count() if not self._busy(slot))
        while slot not in self._workers:
            self._try_new(slot)
        self._send_task(slot, task)

    def _busy(self, slot: int) -> bool:
        return slot in self._workers and self._workers[slot].task is not None

    def _send_task(self, slot: int, task: Task) -> None:
        worker, conditions = self._workers[slot], self._conditions.of_test(task.where.test)
        if isinstance(task, Explore):
            worker.seconds = conditions.deadline + task.seconds
        else:
            worker.seconds = DIAGNOSIS + 4 * self._conditions.shrink + OFTEN * isinstance(task, DiagnoseDeath)
        worker.task, worker.begun = task, time.monotonic()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # noticed when its result is read
            worker.process.connection.send((task, conditions, self._crumb_path(slot)))

    def wait(self, seconds: float) -> Sequence[tuple[Task, Result]]:
        busy = {worker.process.connection: slot for slot, worker in self._workers.items() if self._busy(slot)}
        patience = min((self._workers[slot].overdue for slot in busy.values()), default=0.0) - time.monotonic()
        ready: list[Any] = first_of(list(busy), max(0.0, min(seconds, patience)))
        finished: list[tuple[Task, Result]] = []
        try:
            for connection in ready:
                finished += self._handle_message(busy[connection])
            for slot in busy.values():
                if self._busy(slot) and self._workers[slot].overdue < time.monotonic():
                    finished += self._handle_timeout(slot)
        except ServerLost as error:
            finished += self._restart_all(error)
        for task, _ in finished:
            self._lost_with.pop(id(task), None)
        return finished

    def _handle_message(self, slot: int) -> Iterator[tuple[Task, Result]]:
        """Read the message of the worker at `slot`: that it is ready, its result, or the end of its connection."""
        worker = self._workers[slot]
        assert worker.task is not None
        try:
            said = worker.process.connection.recv()
        except (EOFError, OSError):
            status = worker.process.status(_GONE)
            if worker.ready:
                yield worker.task, self._died(slot, status)
            else:
                self._start_elsewhere(slot)
            return
        if not worker.ready:
            self._has_started(worker, said)
        elif isinstance(said, MissingFramework):
            raise FrameworkMissing(said.what)
        else:
            if isinstance(worker.task, Explore):
                self._longest = max(self._longest, time.monotonic() - worker.begun)
                # If a fork of the worker died, the worker itself has not run these trials.
                worker.ran = _append_trials(worker.ran, worker.task, said.done if isinstance(said, Explored) else 0)
            yield worker.task, said
            worker.task = None

    def _died(self, slot: int, status: int | None) -> Death:
        if status is None:
            return self._replace_dead_worker(slot, ProcessDeath("crash", "its connection ended"))
        return self._replace_dead_worker(slot, death_from_status(status, self._workers[slot].killed_before))

    def _start_elsewhere(self, slot: int) -> None:
        """Start the task of the worker at `slot` again: the worker died, or was killed, before it was ready."""
        worker = self._workers.pop(slot)
        why = self._why(worker)
        worker.process.close()
        self._unready += 1
        if self._unready == _UNREADY:
            raise AutotestError(f"worker processes do not start: {why}")
        assert worker.task is not None
        self.start(worker.task)

    def _handle_timeout(self, slot: int) -> Iterator[tuple[Task, Result]]:
        worker = self._workers[slot]
        assert worker.task is not None
        if not worker.ready:
            raise AutotestError(f"a worker process has not started in {START_UP:g} s: {self._why(worker)}")
        allowed = self._allowed(slot, worker.task)
        if allowed > worker.seconds:
            worker.seconds = allowed
            return
        yield (
            worker.task,
            self._replace_dead_worker(slot, timeout_death(self._conditions.deadline_of(worker.task.where.test))),
        )

    def _allowed(self, slot: int, task: Task) -> float:
        """Return how many seconds a worker may take for `task`, after it has exceeded those for its trials."""
        if not isinstance(task, Explore) or (now := current_activity(self._crumb_path(slot))) == "running":
            return 0.0
        # A test's own deadline is for its trials only; importing its file and its set-up get the usual one.
        usual = self._conditions.deadline + task.seconds
        # Judging a trial takes a dozen replays, of calls that have all returned once before.
        return usual + DIAGNOSIS if now == "judging" else usual

    def _replace_dead_worker(self, slot: int, died: ProcessDeath) -> Death:
        """Return the description of the death of the worker at `slot`, and put another worker in its place."""
        worker = self._workers.pop(slot)
        worker.process.close()
        death = read_death(self._crumb_path(slot), worker.log, died)
        if isinstance(worker.task, Explore) and death.index is not None and death.index in worker.task.indices:
            ran = _append_trials(worker.ran, worker.task, worker.task.indices.index(death.index))
            death = dataclasses.replace(death, before=ran)
        spare, self._spare = self._spare, None
        with contextlib.suppress(ServerLost):  # `start` tries again
            self._workers[slot] = spare or self._new()
            self._spare = self._new()
        return death

    def _restart_all(self, error: ServerLost) -> Iterator[tuple[Task, Result]]:
        """Start all tasks again after the server ended with all workers, which the tasks have hardly caused."""
        self._count_loss(error)
        tasks = [worker.task for worker in self._workers.values() if worker.task is not None]
        self._forget_workers()
        self._server.close()
        for task in tasks:
            lost = self._lost_with[id(task)] = self._lost_with.get(id(task), 0) + 1
            if lost < _LOST_WITH_TASK:
                self.start(task)
            else:
                yield task, Death(None, f"the process server ended {lost} times meanwhile", "")

    def _try_new(self, slot: int) -> None:
        """Put a new worker at `slot`, unless the server ends meanwhile."""
        try:
            self._workers[slot] = self._new()
        except ServerLost as error:
            self._count_loss(error)

    def _count_loss(self, error: ServerLost) -> None:
        self._lost += 1
        if self._lost == _LOST:
            raise AutotestError(f"the process server ended {_LOST} times: {self._server.last_words()}") from error

    def _crumb_path(self, slot: int) -> Path:
        return self._folder / f"{slot}.crumb"

    def _forget_workers(self) -> None:
        for worker in (*self._workers.values(), *([self._spare] if self._spare is not None else [])):
            worker.process.close()
        self._workers.clear()
        self._spare = None

    def machines(self) -> list[str]:
        """Return an empty list: no other machine takes part."""
        return []

    def close(self) -> None:
        """Kill all workers at once, whatever they are doing."""
        self._forget_workers()
        self._server.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        for prefix in (TRACES, SCRIPTS):  # of workers that were killed in a diagnosis
            remove_abandoned(prefix)


def _append_trials(ran: tuple[RanTrials, ...], task: Explore, done: int) -> tuple[RanTrials, ...]:
    """Return `ran` followed by the first `done` trials of `task`, cut to the last ones that a diagnosis may need."""
    if task.set_aside or not done:
        return ran  # a later run would make the calls that this task left out because they crash
    return last((*ran, RanTrials(task.where, task.indices[:done])), max(RAN_BEFORE))


def default_jobs() -> int:
    """Return the number of available processors, but at most 8."""
    return max(1, min(8, len(os.sched_getaffinity(0))))


def _work(connection: Connection, server: socket.socket, memory: int | None) -> None:
    """Run in the worker. Only there its work is imported, which takes a moment: the command itself does not need it."""
    from autotest.campaigns.worker import work

    work(connection, server, memory)
