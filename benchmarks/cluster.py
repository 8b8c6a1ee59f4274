"""Measures the cost of distributing tasks to a cluster of idle workers, and a campaign on Ray against a local one.

The functions yield rows. The driver's cost per task is its processor time, including that of its Ray threads: if the
agents run on the same two cores, the wall-clock time includes their work. Therefore the driver is also measured alone,
with agents that answer immediately and whose processor time is subtracted.
"""

from __future__ import annotations

import collections
import copy
import json
import os
import resource
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from autotest.campaigns.campaign import Campaign, Plan
from autotest.clusters.cluster import Cluster
from autotest.clusters.engine import Engine, Lost, Machine
from autotest.clusters.packing import package
from autotest.clusters.ray_engine import RayEngine
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.tasks import Conditions, Explore, Explored, FindingRecord, Result, Task, Where
from benchmarks.interleave import Spread
from benchmarks.results import Row
from benchmarks.sessions import processor_time, taken_below
from benchmarks.whole import environment
from tests.support.threads import Idle, Threads

#: Tasks per second that all idle workers together request.
PACE = 1000.0
#: Number of tests in the campaign whose tasks are distributed, and number of agents that share its workers.
TESTS, AGENTS = 500, 8

#: Tests without findings, because the diagnosis of a finding takes seconds.
_TESTS = """
    from autotest import autotest, random_tensor, torch

    @autotest(n=1, special_values=False)
    def test_chain():
        x = random_tensor(ndim=2)
        return torch.sigmoid(torch.tanh(x) * x + x)

    @autotest(n=1, special_values=False)
    def test_softmax():
        return torch.softmax(random_tensor(ndim=2), dim=1)
"""


class InstantAgent(Idle):
    """An agent that runs no task and returns a typical result for each."""

    def result(self, task: Task) -> Result:
        assert isinstance(task, Explore)
        done = len(task.indices)
        operators = collections.Counter({f"operator_{number}": done for number in range(5)})
        arguments = collections.Counter({f"operator dim={number}": done for number in range(20)})
        return Explored(done, done, operators=operators, arguments=arguments, compared=9 * done, seconds=0.04 * done)


class _Paced(InstantAgent):
    """A worker that waits for each task, so that `WORKERS` workers together request `PACE` tasks per second."""

    WORKERS = 64

    def __init__(self) -> None:
        super().__init__(seconds=self.WORKERS / PACE)


class _Paced256(_Paced):
    WORKERS = 256


class _InstantEngine:
    """An engine whose agents run in this thread and answer all messages when `answers` is called."""

    def __init__(self, workers: int, agents: int) -> None:
        self._workers, self._agents, self._one = workers, agents, InstantAgent()
        self._there: list[InstantAgent] = []
        self._asked: list[tuple[int, bytes]] = []
        #: Processor seconds used by the agents.
        self.theirs = 0.0

    def connect(self) -> None:
        pass

    def machines(self) -> Sequence[Machine]:
        return [Machine(f"m{number}", "", self._workers // self._agents) for number in range(self._agents)]

    def start(self, machine: Machine, slots: int) -> Hashable:
        self._there.append(copy.deepcopy(self._one))
        return len(self._there) - 1

    def send(self, agent: Hashable, message: bytes) -> None:
        assert isinstance(agent, int)
        self._asked.append((agent, message))

    def answers(self, seconds: float) -> Sequence[tuple[Hashable, bytes | Lost]]:
        begin = time.process_time()
        said = [(agent, self._there[agent].answer(message)) for agent, message in self._asked]
        self._asked.clear()
        self.theirs += time.process_time() - begin
        return said

    def end(self, agent: Hashable) -> None:
        pass

    def close(self) -> None:
        pass


class _SplitCluster(RayEngine):
    """A Ray cluster of one machine that is presented as several."""

    def machines(self) -> Sequence[Machine]:
        return [
            one._replace(id=f"{one.id}/{number}", processors=one.processors // AGENTS)
            for one in super().machines()
            for number in range(AGENTS)
        ]

    def start(self, machine: Machine, slots: int) -> Hashable:
        return super().start(machine._replace(id=machine.id.partition("/")[0]), slots)


class _SilentDisplay:
    """A display that shows nothing."""

    def changed(self, progress: CampaignProgress) -> None:
        pass

    def found(self, found: FindingRecord) -> None:
        pass


def coordination(seconds: float) -> Iterator[Row]:
    """Yield the tasks per second, and the driver's cost per task, with 64 and 256 idle workers."""
    agents: dict[int, type[_Paced]] = {64: _Paced, 256: _Paced256}
    for workers, agent in agents.items():
        machines: dict[str, tuple[int, Callable[[], Idle]]] = {
            f"m{number}": (workers // AGENTS, agent) for number in range(AGENTS)
        }
        engines: dict[str, Engine] = {
            "threads": Threads(machines),
            "Ray actors": _SplitCluster(processors=workers, agent=agent),
        }
        for kind, engine in engines.items():
            tasks, took, busy, others, grown = _measured(engine, seconds)
            name = f"{workers} workers in {AGENTS} {kind}"
            yield Row("cluster", f"{name}: tasks a second (asked for: {PACE:.0f})", Spread.of([tasks / took]), "/s")
            yield Row("cluster", f"{name}: driver's processor time a task", Spread.of([1e3 * busy / tasks]), "ms", 2.0)
            yield Row("cluster", f"{name}: driver's memory, grown by", Spread.of([grown / 1024]), "MB")
            if others:
                spread = Spread.of([1e3 * others / tasks])
                yield Row("cluster", f"{name}: processor time a task of Ray's processes and the agents", spread, "ms")


def by_itself(seconds: float) -> Iterator[Row]:
    """Yield the tasks per processor second of the driver, and its memory, with agents that answer immediately."""
    for workers in (64, 256, 1000):
        engine = _InstantEngine(workers, AGENTS if workers < 1000 else 125)
        tasks, took, busy, _, grown = _measured(engine, seconds)
        own = busy - engine.theirs
        name = f"{workers} workers, driver by itself"
        yield Row(
            "cluster", f"{name}: tasks a second of its processor", Spread.of([tasks / own]), "/s", 1000, at_most=False
        )
        yield Row("cluster", f"{name}: processor time a task", Spread.of([1e3 * own / tasks]), "ms", 2.0)
        yield Row("cluster", f"{name}: tasks a second on the clock", Spread.of([tasks / took]), "/s")
        yield Row("cluster", f"{name}: memory, grown by", Spread.of([grown / 1024]), "MB")


def _measured(engine: Engine, seconds: float) -> tuple[int, float, float, float, float]:
    """Run one campaign on `engine` for `seconds` seconds and measure it.

    Returns:
        The number of finished tasks, the wall-clock seconds, the processor seconds of this process and of its
        descendants, and the growth of this process's memory in kilobytes.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        executor = Cluster(engine, package(Conditions(place), [], place), place)
        tests = [TestProgress(Where(place / "test_x.py", f"test_x.py::test_{n}", 0)) for n in range(TESTS)]
        progress = CampaignProgress(0, tests)
        executor.prepare()
        try:
            counted = _CountingExecutor(executor)
            memory, clock = _memory(), time.perf_counter()
            busy, below = time.process_time(), taken_below(os.getpid())
            Campaign(progress, Plan(0, seconds), counted, _SilentDisplay()).run()
            took, busy = time.perf_counter() - clock, time.process_time() - busy
            return counted.tasks, took, busy, taken_below(os.getpid()) - below, _memory() - memory
        finally:
            executor.close()


class _CountingExecutor:
    """Wraps an executor and counts its finished tasks."""

    def __init__(self, executor: Cluster) -> None:
        self._executor, self.tasks = executor, 0

    @property
    def slots(self) -> int:
        return self._executor.slots

    @property
    def diagnosis_slots(self) -> int:
        return self._executor.diagnosis_slots

    def start(self, task: Task) -> None:
        self._executor.start(task)

    def wait(self, seconds: float) -> Sequence[tuple[Task, Result]]:
        finished = self._executor.wait(seconds)
        self.tasks += len(finished)
        return finished


def _memory() -> float:
    """Return the resident memory of this process in kilobytes."""
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * resource.getpagesize() / 1024


def beside_local(seconds: float, times: int) -> Iterator[Row]:
    """Yield the ratio of the trials of campaigns with two workers on Ray to those with two local workers.

    The campaigns alternate. Each value is the difference of a long campaign and a short one, whose clocks start when
    the workers have imported everything, so that the cost of starting cancels out. The wall-clock ratio depends on the
    other load of the machine. Therefore a second row compares how much of two processors remains for the workers after
    the rest of the campaign (the command, Ray's processes, the agent) has used its processor time.
    """
    by_clock, left = [], []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "test_timed.py"
        file.write_text(textwrap.dedent(_TESTS), encoding="utf-8")
        for seed in range(1, times + 1):
            here, there = (_beyond_starting(file, where, seconds, seed) for where in ("local", "ray"))
            by_clock.append((there.trials / there.seconds) / (here.trials / here.seconds))
            left.append((2 - there.others / there.seconds) / (2 - here.others / here.seconds))
    name = "two workers on Ray / two here"
    yield Row("cluster", f"{name}: trials by the clock", Spread.of(by_clock), "x", 0.9, at_most=False)
    yield Row(
        "cluster", f"{name}: of two processors, what is left to workers", Spread.of(left), "x", 0.9, at_most=False
    )


class _CampaignCost(NamedTuple):
    """The trials of a campaign, its wall-clock seconds, and the processor seconds of its processes except workers."""

    trials: int
    seconds: float
    others: float


def _beyond_starting(file: Path, where: str, seconds: float, seed: int) -> _CampaignCost:
    short, long = (_campaign(file, where, time, seed) for time in (seconds / 5, seconds))
    return _CampaignCost(long.trials - short.trials, long.seconds - short.seconds, long.others - short.others)


def _campaign(file: Path, where: str, seconds: float, seed: int) -> _CampaignCost:
    summary = file.parent / "summary.json"
    summary.unlink(missing_ok=True)
    options = f"--time {seconds}s --jobs 2 --executor {where} --seed {seed} --json {summary}"
    command = [sys.executable, "-m", "autotest", "fuzz", str(file), *options.split()]
    others = processor_time(command, file.parent, environment(), without="autotest.processes.server")
    told = json.loads(summary.read_text(encoding="utf-8"))
    return _CampaignCost(int(told["trials"]), float(told["seconds"]), others)
