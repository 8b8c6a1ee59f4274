"""An executor that runs the tasks of a campaign on a cluster. If an agent is lost, its tasks are handed out again."""

from __future__ import annotations

import collections
import contextlib
import pickle
import time
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

from autotest.base.errors import AutotestError
from autotest.base.plural import several
from autotest.campaigns.executor import is_of_hang
from autotest.clusters.engine import Engine, Lost
from autotest.clusters.machines import Machines
from autotest.clusters.messages import Facts, Package, Report, SentTask, Shutdown, TaskBatch
from autotest.clusters.packing import packed, unpacked
from autotest.clusters.remote_agents import Job, RemoteAgent
from autotest.processes.client import START_UP

#: Seconds that an agent waits for a result before it answers and can get further tasks.
POLL = 0.25
#: Seconds after the first agent is ready in which others may join, before their groups are compared.
JOIN_SECONDS = 10.0
#: Seconds without an answer after which an agent is given up, and seconds without any agent after which the campaign
#: ends.
SILENT, ALONE = 60.0, 120.0
#: A task is also given to a second machine if it takes this many times the usual time, and at least this many seconds.
STRAGGLES, AT_LEAST = 4.0, 5.0
#: Seconds between two checks for silent agents and slow tasks.
LOOK_EVERY = 0.1


class Cluster:
    """An executor whose workers are on other machines. Only this process has the store, the ledger and the display."""

    def __init__(
        self,
        engine: Engine,
        package: Package,
        directory: Path,
        jobs: int | None = None,
        wanted: str = "",
        *,
        each: bool = False,
    ) -> None:
        """Use the machines of `engine`; `prepare` starts the agents.

        Args:
            engine: runs the agents.
            package: what every agent receives first.
            directory: findings are put into the store below it.
            jobs: the largest number of workers in total; None for no limit.
            wanted: only machines whose group (frameworks and devices) contains this text take part.
            each: let every group take part, instead of only the group with the most workers.
        """
        self._engine, self._package, self._directory = engine, package, directory
        #: Whether every group of machines takes part.
        self.each = each
        self._root = Path(package.root) if package.root else Path.cwd()
        self._machines = Machines(engine, jobs, wanted, each=each)
        self._agents: dict[Hashable, RemoteAgent] = {}
        #: The agents of each group that can be given tasks; cleared when an agent has joined or is gone.
        self._at_work: dict[str, Sequence[RemoteAgent]] = {}
        self._rooms: dict[str, tuple[int, int]] = {}
        self._jobs: dict[int, Job] = {}
        self._waiting: collections.deque[int] = collections.deque()
        self._numbers = 0
        self._finished: dict[str, list[tuple[Any, Any]]] = {}
        #: The number of finished tasks and their total seconds, by group and kind of task.
        self._usual: dict[tuple[str, type], tuple[int, float]] = {}
        self._next_look = 0.0
        #: The time at which a group last had a machine.
        self._last_seen: dict[str, float] = {}
        #: Why groups were given up while others continue.
        self._given_up: list[str] = []

    # -- agents -----------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Start an agent on every machine, and wait for them. Raises `AutotestError` if none can work."""
        self._engine.connect()
        begin, first = time.monotonic(), 0.0
        # With `each`, a group must not be left out of the results because its machines are slower to start.
        gathering = START_UP if self.each else JOIN_SECONDS
        while not first or (time.monotonic() < first + gathering and any(not one.facts for one in self._all())):
            self._start_agents()
            if not self._agents and (self._machines.refused or time.monotonic() > begin + SILENT):
                raise self._nobody()
            if time.monotonic() > begin + 2 * START_UP:
                raise self._nobody()
            self._listen(0.5)
            if not first and any(one.facts for one in self._all()):
                first = time.monotonic()
        groups = collections.Counter[str]()
        for one in self._working():
            groups[one.group] += one.workers
        self._machines.choose(groups)
        for handle, one in list(self._agents.items()):
            if one.facts is not None and not self._machines.accepts_machine(one.machine, one.facts):
                self._dismiss(handle)

    def _all(self) -> list[RemoteAgent]:
        return list(self._agents.values())

    def _working(self, group: str = "") -> Sequence[RemoteAgent]:
        known = self._at_work.get(group)
        if known is None:
            known = [one for one in self._agents.values() if one.facts is not None and group in ("", one.group)]
            self._at_work[group] = known
        return known

    def _others_work(self) -> None:
        self._at_work.clear()
        self._rooms.clear()

    def _nobody(self, group: str = "") -> AutotestError:
        why = "; ".join(self._machines.refusals()) or "no machine has a free processor"
        return AutotestError(f"no machine of the cluster can be used{f' with {group}' if group else ''}: {why}")

    def _start_agents(self) -> None:
        """Start agents on machines that have joined since the last call."""
        for machine, slots in self._machines.machines_to_start():
            handle = self._engine.start(machine, slots)
            self._agents[handle] = RemoteAgent(machine.id, slots, asked_at=time.monotonic())
            self._engine.send(handle, pickle.dumps(self._package._replace(slots=slots)))

    def _lose(self, handle: Hashable, why: str) -> None:
        """Dismiss an agent that was lost, and record the loss. Its tasks are run again by others."""
        agent = self._dismiss(handle)
        self._machines.lost(agent.machine, why)

    def _dismiss(self, handle: Hashable) -> RemoteAgent:
        agent = self._agents.pop(handle)
        self._others_work()
        for number in agent.jobs:
            job = self._jobs.get(number)
            if job is not None:
                job.holders.remove(agent)
                if not job.holders:
                    job.begun = 0.0
                    self._waiting.appendleft(number)
        self._machines.gone(agent.machine)
        self._engine.end(handle)
        return agent

    # -- the `Executor` interface, for all machines or for one group ------------------------------------

    @property
    def groups(self) -> Sequence[str]:
        """The groups of machines (frameworks and devices) that take part, by name. With `each`, more may join."""
        return self._machines.groups

    def only(self, group: str) -> GroupExecutor:
        """Return an executor whose workers are the machines of one group."""
        return GroupExecutor(self, group)

    @property
    def slots(self) -> int:
        return self.room()[0]

    @property
    def diagnosis_slots(self) -> int:
        return self.room()[1]

    def room(self, group: str = "") -> tuple[int, int]:
        """Return `slots` and `diagnosis_slots` of all machines, or of those of `group`.

        Each is at least 1: a cluster that has lost all its machines gets others, or the campaign ends with an error.
        """
        known = self._rooms.get(group)
        if known is None:
            working = self._working(group)
            known = max(1, sum(one.slots for one in working)), max(1, sum(one.diagnosis_slots for one in working))
            self._rooms[group] = known
        return known

    def start(self, task: Any, group: str = "") -> None:
        self._numbers += 1
        self._jobs[self._numbers] = Job(task, group)
        self._waiting.append(self._numbers)

    def wait(self, seconds: float, group: str = "") -> Sequence[tuple[Any, Any]]:
        """Return the finished tasks of `group` and their results.

        Waits at most `seconds`, and returns early when any task finishes.
        """
        self._start_agents()
        self._assign_tasks()
        for handle, agent in self._agents.items():
            if agent.asked_at is None and agent.jobs:
                self._ask(handle, agent)
        self._listen(0.0 if self._finished.get(group) else seconds)
        now = time.monotonic()
        if now > self._next_look:
            self._next_look = now + LOOK_EVERY
            self._look_for_trouble(now)
        if self._working(group):
            self._last_seen[group] = now
        elif now - self._last_seen.setdefault(group, now) > ALONE:
            raise self._nobody(group)
        return self._finished.pop(group, [])

    def _assign_tasks(self) -> None:
        """Give waiting tasks to agents that have room."""
        for _ in range(len(self._waiting)):
            number = self._waiting.popleft()
            if number in self._jobs and not self._assign(number):
                self._waiting.append(number)

    def _look_for_trouble(self, now: float) -> None:
        """Give up agents that no longer answer, and give slow tasks to a second agent as well."""
        for handle, agent in list(self._agents.items()):
            patience = SILENT if agent.facts is not None else 2 * START_UP
            if agent.asked_at is not None and now - agent.asked_at > patience:
                self._lose(handle, f"no answer in {patience:g} s")
        short = {self._jobs[number].group for number in self._waiting if number in self._jobs}
        for number, job in self._jobs.items():
            if len(job.holders) == 1 and job.group not in short and now - job.begun > self._patience(job):
                self._assign(number)

    def _patience(self, job: Job) -> float:
        count, seconds = self._usual.get((job.group, type(job.task)), (0, 0.0))
        return max(AT_LEAST, STRAGGLES * seconds / count) if count else float("inf")

    def _assign(self, number: int) -> bool:
        job = self._jobs[number]
        busy = {holder.machine for holder in job.holders}
        agent, most = None, 0
        for one in self._working(job.group):
            room = one.room(job.task)
            if room > most and one.machine not in busy:
                agent, most = one, room
        if agent is None:
            return False
        job.begun = job.begun or time.monotonic()
        job.holders.append(agent)
        agent.assign(number, job.task)
        if is_of_hang(job.task):
            self._rooms.clear()
        return True

    def _ask(self, handle: Hashable, agent: RemoteAgent) -> None:
        sent = [SentTask(number, *packed(agent.jobs[number], self._root, self._directory)) for number in agent.unsent]
        agent.unsent.clear()
        agent.asked_at = time.monotonic()
        self._engine.send(handle, pickle.dumps(TaskBatch(sent, POLL)))

    def _listen(self, seconds: float) -> None:
        for handle, said in self._engine.answers(seconds):
            agent = self._agents.get(handle)
            if agent is None:
                continue
            agent.asked_at = None
            if isinstance(said, Lost):
                self._lose(handle, said.why)
                continue
            answer: Facts | Report = pickle.loads(said)
            if isinstance(answer, Facts):
                agent.facts = answer
                self._others_work()
                if not self._machines.accepts_machine(agent.machine, answer):
                    self._dismiss(handle)
            else:
                self._take(agent, answer)
                if answer.trouble:
                    self._lose(handle, answer.trouble)

    def _take(self, agent: RemoteAgent, report: Report) -> None:
        before = agent.slots, agent.diagnosis_slots
        agent.late = report.late
        for number, *_ in report.results:
            agent.finish(number)
        if (agent.slots, agent.diagnosis_slots) != before:
            self._rooms.clear()
        for number, result, files in report.results:
            job = self._jobs.pop(number, None)
            if job is None:
                continue  # another machine has already returned this task
            self._machines.worked(agent.machine)
            kind = job.group, type(job.task)
            count, seconds = self._usual.get(kind, (0, 0.0))
            self._usual[kind] = count + 1, seconds + time.monotonic() - job.begun
            done = job.task, unpacked(job.task, result, files, self._root, self._directory)
            self._finished.setdefault(job.group, []).append(done)

    # -- reports and shutdown -----------------------------------------------------------------------------

    def machines(self) -> list[str]:
        """Return one line for each group that works, and for each reason for which machines were refused."""
        return [*(f"{self.workers(group)}: {group}" for group in self.groups), *self.machines_left_out()]

    def machines_left_out(self) -> list[str]:
        """Return one line for each reason for which machines were refused or given up."""
        return [f"left out: {line}" for line in self._machines.refusals()] + self._given_up

    def give_up(self, why: AutotestError) -> None:
        """Record that a group of machines failed for the reason `why`; the others continue."""
        self._given_up.append(f"given up: {why}")

    def workers(self, group: str) -> str:
        """Return a text with the number of workers of `group` and of their machines."""
        working = self._working(group)
        machines = len({one.machine for one in working})
        workers = several(sum(one.workers for one in working), "worker")
        return f"{workers} on {several(machines, 'machine')} of the cluster"

    def close(self) -> None:
        """End all agents, and disconnect from the cluster."""
        with contextlib.suppress(AutotestError):  # a lost cluster cannot receive a `Shutdown`
            self._await_answers(4 * POLL)
            for handle, agent in self._agents.items():
                if agent.asked_at is None:
                    agent.asked_at = time.monotonic()
                    self._engine.send(handle, pickle.dumps(Shutdown()))
            self._await_answers(1.0)
        for handle in self._agents:
            self._engine.end(handle)
        self._agents.clear()
        self._engine.close()

    def _await_answers(self, seconds: float) -> None:
        """Wait until no agent owes an answer; the answers are discarded."""
        end = time.monotonic() + seconds
        while any(one.asked_at is not None for one in self._all()) and time.monotonic() < end:
            for handle, _ in self._engine.answers(end - time.monotonic()):
                if handle in self._agents:
                    self._agents[handle].asked_at = None


class GroupExecutor:
    """An executor of the machines of one group; other groups continue meanwhile."""

    def __init__(self, cluster: Cluster, group: str) -> None:
        self._cluster, self.group = cluster, group

    @property
    def slots(self) -> int:
        return self._cluster.room(self.group)[0]

    @property
    def diagnosis_slots(self) -> int:
        return self._cluster.room(self.group)[1]

    def start(self, task: Any) -> None:
        self._cluster.start(task, self.group)

    def wait(self, seconds: float) -> Sequence[tuple[Any, Any]]:
        return self._cluster.wait(seconds, self.group)
