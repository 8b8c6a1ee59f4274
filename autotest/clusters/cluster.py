"""Carries out the tasks of a campaign on a cluster: deals them out to agents, and again where one is lost."""

from __future__ import annotations

import collections
import dataclasses
import pickle
import time
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

from autotest.base.errors import AutotestError
from autotest.clusters.engine import Engine, Lost
from autotest.clusters.machines import Machines
from autotest.clusters.messages import Facts, Farewell, Handed, Order, Package, Report
from autotest.clusters.travelling import packed, unpacked
from autotest.processes.client import START_UP
from autotest.report.plural import several
from autotest.results.tasks import Explore

#: Seconds that an agent waits for a result before it asks whether there is more to do.
POLL = 0.25
#: Seconds after the first agent in which others may come, before their groups are compared.
GATHERING = 10.0
#: Seconds without an answer after which an agent is given up, and without any agent after which the campaign is.
SILENT, ALONE = 60.0, 120.0
#: A task is given to another machine as well when it has taken so many times the usual, and at least so many seconds.
STRAGGLES, AT_LEAST = 4.0, 5.0


@dataclasses.dataclass(slots=True)
class _Job:
    """A task that is not done."""

    task: Any
    begun: float = 0.0
    #: The agents that have it.
    holders: list[_Station] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(slots=True, eq=False)
class _Station:
    """An agent, as the driver knows it."""

    machine: str
    slots: int
    looking: int
    #: None until it has said what it is.
    facts: Facts | None = None
    #: What it was given and has not done, and what of it is yet to be sent.
    jobs: dict[int, Any] = dataclasses.field(default_factory=dict)
    exploring: int = 0
    unsent: list[int] = dataclasses.field(default_factory=list)
    #: Since when it owes an answer; None when it does not.
    asked: float | None = None

    def room(self, task: Any) -> int:
        """How many more tasks like this one it can begin at once."""
        free = self.slots + self.looking - len(self.jobs)
        return min(self.slots - self.exploring, free) if isinstance(task, Explore) else free

    def give(self, number: int, task: Any) -> None:
        self.jobs[number] = task
        self.unsent.append(number)
        self.exploring += isinstance(task, Explore)

    def has_done(self, number: int) -> None:
        self.exploring -= isinstance(self.jobs.pop(number, None), Explore)


class Cluster:
    """An executor whose workers are on other machines; this process alone has the store, the ledger and the display."""

    def __init__(
        self, engine: Engine, package: Package, directory: Path, jobs: int | None = None, wanted: str = ""
    ) -> None:
        """`package` is for every agent; findings go to the store below `directory`.

        At most `jobs` workers are used, on machines whose group (frameworks and devices) holds the text `wanted`.
        """
        self._engine, self._package, self._directory = engine, package, directory
        self._root = Path(package.root) if package.root else Path.cwd()
        self._machines = Machines(engine, jobs, wanted)
        self._stations: dict[Hashable, _Station] = {}
        self._jobs: dict[int, _Job] = {}
        self._waiting: collections.deque[int] = collections.deque()
        self._numbers = 0
        self._usual: dict[type, tuple[int, float]] = {}
        self._last_seen = time.monotonic()

    # -- who works --------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Start an agent on every machine, and wait for them; raises `AutotestError` when none can work."""
        self._engine.connect()
        begin, first = time.monotonic(), 0.0
        while not first or (time.monotonic() < first + GATHERING and any(not one.facts for one in self._all())):
            self._enlist()
            if not self._stations and (self._machines.refused or time.monotonic() > begin + SILENT):
                raise self._nobody()
            if time.monotonic() > begin + 2 * START_UP:
                raise self._nobody()
            self._listen(0.5)
            if not first and any(one.facts for one in self._all()):
                first = time.monotonic()
        groups = collections.Counter[str]()
        for one in self._working():
            assert one.facts is not None
            groups[one.facts.group] += one.slots
        self._machines.choose(groups)
        for handle, one in list(self._stations.items()):
            if one.facts is not None and not self._machines.welcomes(one.machine, one.facts):
                self._dismiss(handle)

    def _all(self) -> list[_Station]:
        return list(self._stations.values())

    def _working(self) -> list[_Station]:
        return [one for one in self._stations.values() if one.facts is not None]

    def _nobody(self) -> AutotestError:
        why = "; ".join(self._machines.told_of_refused()) or "it has no machine with a free processor"
        return AutotestError(f"nobody works on the cluster: {why}")

    def _enlist(self) -> None:
        """Start agents on machines that came since."""
        for machine, slots in self._machines.to_start():
            handle = self._engine.start(machine, slots)
            self._stations[handle] = _Station(machine.id, slots, max(1, slots // 2), asked=time.monotonic())
            self._engine.send(handle, pickle.dumps(self._package._replace(slots=slots)))

    def _lose(self, handle: Hashable, why: str) -> None:
        """What an agent was doing is done again by others, unless somebody does it already."""
        station = self._dismiss(handle)
        self._machines.lost(station.machine, why)

    def _dismiss(self, handle: Hashable) -> _Station:
        station = self._stations.pop(handle)
        for number in station.jobs:
            job = self._jobs.get(number)
            if job is not None:
                job.holders.remove(station)
                if not job.holders:
                    job.begun = 0.0
                    self._waiting.appendleft(number)
        self._machines.gone(station.machine)
        self._engine.end(handle)
        return station

    # -- as `autotest.campaigns.campaign.Executor` ------------------------------------------------------

    @property
    def slots(self) -> int:
        """Never none: a cluster that has lost all its machines gets others, or the campaign ends with an error."""
        return max(1, sum(one.slots for one in self._working()))

    @property
    def looking(self) -> int:
        return max(1, sum(one.looking for one in self._working()))

    def start(self, task: Any) -> None:
        self._numbers += 1
        self._jobs[self._numbers] = _Job(task)
        self._waiting.append(self._numbers)

    def wait(self, seconds: float) -> Sequence[tuple[Any, Any]]:
        self._enlist()
        self._deal()
        for handle, station in self._stations.items():
            if station.asked is None and station.jobs:
                self._ask(handle, station)
        finished = self._listen(seconds)
        now = time.monotonic()
        for handle, station in list(self._stations.items()):
            patience = SILENT if station.facts is not None else 2 * START_UP
            if station.asked is not None and now - station.asked > patience:
                self._lose(handle, f"no answer in {patience:g} s")
        if self._working():
            self._last_seen = now
        elif now - self._last_seen > ALONE:
            raise self._nobody()
        return finished

    def _deal(self) -> None:
        """Give what waits to those who have room, and what straggles to somebody else as well."""
        for _ in range(len(self._waiting)):
            number = self._waiting.popleft()
            if number in self._jobs and not self._give(number):
                self._waiting.append(number)
        if not self._waiting:
            now = time.monotonic()
            for number, job in self._jobs.items():
                if len(job.holders) == 1 and now - job.begun > self._patience(job.task):
                    self._give(number)

    def _patience(self, task: Any) -> float:
        count, seconds = self._usual.get(type(task), (0, 0.0))
        return max(AT_LEAST, STRAGGLES * seconds / count) if count else float("inf")

    def _give(self, number: int) -> bool:
        job = self._jobs[number]
        busy = {holder.machine for holder in job.holders}
        free = [one for one in self._working() if one.machine not in busy and one.room(job.task) > 0]
        if not free:
            return False
        station = max(free, key=lambda one: one.room(job.task))
        job.begun = job.begun or time.monotonic()
        job.holders.append(station)
        station.give(number, job.task)
        return True

    def _ask(self, handle: Hashable, station: _Station) -> None:
        handed = [
            Handed(number, *packed(station.jobs[number], self._root, self._directory)) for number in station.unsent
        ]
        station.unsent.clear()
        station.asked = time.monotonic()
        self._engine.send(handle, pickle.dumps(Order(handed, POLL)))

    def _listen(self, seconds: float) -> list[tuple[Any, Any]]:
        finished: list[tuple[Any, Any]] = []
        for handle, said in self._engine.answers(seconds):
            station = self._stations.get(handle)
            if station is None:
                continue
            station.asked = None
            if isinstance(said, Lost):
                self._lose(handle, said.why)
                continue
            answer: Facts | Report = pickle.loads(said)
            if isinstance(answer, Facts):
                station.facts = answer
                if not self._machines.welcomes(station.machine, answer):
                    self._dismiss(handle)
            else:
                finished += self._results(station, answer)
                if answer.trouble:
                    self._lose(handle, answer.trouble)
        return finished

    def _results(self, station: _Station, report: Report) -> Iterator[tuple[Any, Any]]:
        for number, result, files in report.results:
            station.has_done(number)
            job = self._jobs.pop(number, None)
            if job is None:
                continue  # another machine was faster
            self._machines.worked(station.machine)
            count, seconds = self._usual.get(type(job.task), (0, 0.0))
            self._usual[type(job.task)] = count + 1, seconds + time.monotonic() - job.begun
            yield job.task, unpacked(job.task, result, files, self._directory)

    # -- and besides ------------------------------------------------------------------------------------

    def told(self) -> list[str]:
        """Who works, and who was refused and why; a line each."""
        working = self._working()
        machines = len({one.machine for one in working})
        workers = several(sum(one.slots for one in working), "worker")
        lines = [f"{workers} on {several(machines, 'machine')} of the cluster: {self._machines.group}"]
        return lines + [f"left out: {line}" for line in self._machines.told_of_refused()]

    def close(self) -> None:
        """End all agents, and let go of the cluster."""
        self._await_answers(4 * POLL)
        for handle, station in self._stations.items():
            if station.asked is None:
                station.asked = time.monotonic()
                self._engine.send(handle, pickle.dumps(Farewell()))
        self._await_answers(1.0)
        for handle in self._stations:
            self._engine.end(handle)
        self._stations.clear()
        self._engine.close()

    def _await_answers(self, seconds: float) -> None:
        """Wait until no agent owes an answer, which nobody looks at any more."""
        end = time.monotonic() + seconds
        while any(one.asked is not None for one in self._all()) and time.monotonic() < end:
            for handle, _ in self._engine.answers(end - time.monotonic()):
                if handle in self._stations:
                    self._stations[handle].asked = None


__all__ = ["Cluster"]
