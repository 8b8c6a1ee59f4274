"""How tasks of a campaign are distributed to agents that are slow, different, or lost."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autotest.base.errors import AutotestError
from autotest.clusters import cluster as cluster_module
from autotest.clusters.cluster import Cluster
from autotest.clusters.messages import ExplainTask, Report, SentResult
from autotest.clusters.packing import package
from autotest.clusters.sweeps_and_gradients import SweepOnCluster, run_on_groups
from autotest.program import Program
from autotest.results.identity import Identity
from autotest.results.sweep_findings import SweepFinding
from autotest.results.tasks import Conditions, DiagnoseDeath, Explore, Explored, Result, Task, Where
from autotest.sweeping.worker import Databases
from tests.support.threads import Idle, Threads

HERE = Where(Path("test_x.py"), "test_x.py::test_x", 0)


@pytest.fixture
def started(tmp_path: Path) -> Callable[..., Cluster]:
    """Return ``started(a=(2, Idle), b=(1, Idle))``, which makes an executor on machines of these names."""
    made: list[Cluster] = []

    def start(jobs: int | None = None, **machines: tuple[int, Callable[[], Idle]]) -> Cluster:
        executor = Cluster(Threads(machines), package(Conditions(tmp_path), [], tmp_path), tmp_path, jobs)
        made.append(executor)
        executor.prepare()
        return executor

    yield start
    for executor in made:
        executor.close()


def tasks(count: int) -> list[Explore]:
    return [Explore(HERE, range(number, number + 1), 0.4) for number in range(count)]


def carried_out(executor: Cluster, given: list[Explore]) -> list[tuple[Task, Result]]:
    """Return the results of the tasks `given`, and of others that arrive soon after the last one."""
    finished: list[tuple[Task, Result]] = []
    for task in given:
        executor.start(task)
    for _ in range(500):
        finished += executor.wait(0.02)
        if len(finished) >= len(given):
            break
    finished += executor.wait(0.02)
    return finished


def indices(finished: list[tuple[Task, Result]]) -> list[int]:
    return sorted(task.indices[0] for task, _ in finished if isinstance(task, Explore))


def test_every_task_is_carried_out_once_on_all_machines_together(started):
    executor = started(a=(2, Idle), b=(3, Idle))
    assert (executor.slots, executor.diagnosis_slots) == (5, 2)
    assert indices(carried_out(executor, tasks(40))) == list(range(40))


def test_no_more_workers_than_asked_for_are_used(started):
    assert started(jobs=3, a=(2, Idle), b=(8, Idle), c=(8, Idle)).slots == 3


class _Mortal(Idle):
    """Ends at its third task, once."""

    def __init__(self, ended: list[str]) -> None:
        super().__init__()
        self._ended, self._given = ended, 0

    def result(self, task: Task) -> Result:
        self._given += 1
        if self._given == 3 and not self._ended:
            self._ended.append("killed")
            raise RuntimeError("the machine is gone")
        return super().result(task)


def test_what_a_lost_agent_was_doing_is_done_again_and_the_machine_gets_another_agent(started, monkeypatch):
    monkeypatch.setattr("autotest.clusters.machines.LOOK_EVERY", 0.01)
    ended: list[str] = []
    executor = started(a=(2, lambda: _Mortal(ended)))
    assert indices(carried_out(executor, tasks(12))) == list(range(12))
    assert ended == ["killed"]
    assert executor._engine.started == ["a", "a"]


def test_a_machine_that_loses_every_agent_is_left_out_and_told_of(started, monkeypatch):
    monkeypatch.setattr("autotest.clusters.machines.LOOK_EVERY", 0.01)

    class Dying(Idle):
        def result(self, task: Task) -> Result:
            raise RuntimeError("no memory left")

    executor = started(good=(1, Idle), bad=(4, Dying))
    assert indices(carried_out(executor, tasks(40))) == list(range(40))
    while len(executor.machines()) == 1:  # as long as the bad machine has not lost five
        executor.start(tasks(1)[0])
        executor.wait(0.01)
    assert executor.machines()[1] == "left out: bad: its workers ended 5 times: no memory left"


def test_machines_with_other_versions_are_refused_and_told_of(started):
    newer = "torch 2.1.0 / nothing 1 on cpu"
    executor = started(a=(4, Idle), b=(1, lambda: Idle(group=newer)))
    assert executor.slots == 4
    assert executor.machines() == [
        f"4 workers on 1 machine of the cluster: {Idle.GROUP}",
        f"left out: b: it has {newer}, but this campaign runs on {Idle.GROUP}",
    ]


def test_a_group_of_fewer_workers_takes_part_where_it_is_asked_for(tmp_path):
    machines = {"a": (4, Idle), "b": (1, lambda: Idle(group="torch 2.0.1 / nothing 1 on cpu and cuda"))}
    given = package(Conditions(tmp_path), [], tmp_path)
    with contextlib.closing(Cluster(Threads(machines), given, tmp_path, wanted="cuda")) as executor:
        executor.prepare()
        assert executor.slots == 1
        assert executor.machines()[1] == f"left out: a: it has {Idle.GROUP}, but --group cuda was requested"


def test_a_machine_that_comes_later_takes_part_when_it_has_the_same_versions(started, monkeypatch):
    monkeypatch.setattr("autotest.clusters.machines.LOOK_EVERY", 0.01)
    executor = started(a=(1, Idle))
    executor._engine.there |= {"b": (2, Idle), "c": (4, lambda: Idle(group="torch 1"))}
    assert indices(carried_out(executor, tasks(20))) == list(range(20))
    for _ in range(100):
        executor.wait(0.01)
    assert executor.slots == 3


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        (lambda: Idle(trouble="torch cannot be imported"), "torch cannot be imported"),
        (lambda: Idle(differing=["test_x.py"]), "test_x.py is missing there or differs from this process"),
    ],
    ids=["without a framework", "with another test file"],
)
def test_a_cluster_on_which_nobody_can_work_is_told_at_once_and_why(started, agent, why):
    with pytest.raises(AutotestError, match=f"no machine of the cluster can be used: a: {why}"):
        started(a=(2, agent))


def test_an_agent_with_another_copy_of_the_library_is_refused(started):
    def other() -> Idle:
        agent = Idle()
        agent.facts = agent.facts._replace(library="0")
        return agent

    with pytest.raises(AutotestError, match="it has another version of dual-autotest"):
        started(a=(2, other))


class _Slow(Idle):
    """Works only when the test allows it."""

    def __init__(self, may: threading.Event) -> None:
        super().__init__()
        self._may = may

    def result(self, task: Task) -> Result:
        if task.indices[0] == 39:
            self._may.wait(30)
        return Explored(done=1)


def test_a_straggler_does_not_hold_up_the_end_and_its_late_result_does_not_count(started, monkeypatch):
    monkeypatch.setattr(cluster_module, "AT_LEAST", 0.1)
    may = threading.Event()
    # The agent that gets the last task first is slow; the other agent gets it, too, and is fast.
    slow: list[_Slow] = []

    def first_is_slow() -> Idle:
        slow.append(_Slow(may) if not slow else Idle())  # type: ignore[arg-type]
        return slow[-1]

    executor = started(a=(8, first_is_slow), b=(1, first_is_slow))
    finished = carried_out(executor, tasks(40))
    assert indices(finished) == list(range(40))
    may.set()
    for _ in range(20):
        assert executor.wait(0.01) == []


def test_an_agent_that_says_nothing_any_more_is_given_up(started, monkeypatch):
    monkeypatch.setattr(cluster_module, "SILENT", 0.2)
    monkeypatch.setattr("autotest.clusters.machines.LOOK_EVERY", 0.01)
    may, silent = threading.Event(), []

    def first_is_silent() -> Idle:
        silent.append(_Slow(may) if not silent else Idle())
        return silent[-1]

    executor = started(a=(1, first_is_silent))
    last = [Explore(HERE, range(39, 40), 0.4)]
    assert indices(carried_out(executor, last)) == [39]
    may.set()


def test_a_campaign_whose_cluster_is_gone_ends_with_a_sentence(started, monkeypatch):
    monkeypatch.setattr(cluster_module, "ALONE", 0.1)
    monkeypatch.setattr("autotest.clusters.machines.LOOK_EVERY", 0.01)

    class Dying(Idle):
        def result(self, task: Task) -> Result:
            executor._engine.there.clear()
            raise RuntimeError("the machine is gone")

    executor = started(a=(1, Dying))
    with pytest.raises(AutotestError, match="no machine of the cluster can be used: no machine has a free processor"):
        carried_out(executor, tasks(1))


def test_a_hang_that_is_looked_into_does_not_keep_other_findings_waiting(started):
    # As with workers of this machine, the diagnosis of a hang waits for its deadline.
    may = threading.Event()

    class Waiting(Idle):
        def result(self, task: Task) -> Result:
            may.wait(30)
            return super().result(task)

    executor = started(a=(2, Waiting))
    hang = Identity("sinh", "hang", "forward", "candidate", "", "")
    for looked_into in (hang, hang._replace(operator="cosh"), hang._replace(operator="erf")):
        executor.start(DiagnoseDeath(HERE, 3, looked_into, "no answer", thorough=False))
    assert executor.wait(0.01) == []
    assert (executor.slots, executor.diagnosis_slots) == (2, 1 + 2)
    may.set()
    finished: list[tuple[Task, Result]] = []
    while len(finished) < 3:
        finished += executor.wait(0.02)
    assert (executor.slots, executor.diagnosis_slots) == (2, 1)


def test_a_machine_whose_workers_seem_to_hang_explores_with_as_many_others(started):
    class Late(Idle):
        def report(self, results: list[SentResult]) -> Report:
            return Report(results, late=int(results[0].number < 3))

    executor = started(a=(2, Late))
    assert [len(carried_out(executor, tasks(1))) and executor.slots for _ in range(4)] == [3, 3, 2, 2]
    assert executor.machines()[0].startswith("2 workers on 1 machine")


#: The versions of another group of machines.
OTHER = "torch 2.0.1 / nothing 1 on cpu and cuda"


@pytest.fixture
def two_groups(tmp_path: Path) -> Iterator[Cluster]:
    """Return three workers of one group and two of another; both take part."""
    machines = {"a": (2, Idle), "b": (1, Idle), "c": (2, lambda: Idle(group=OTHER))}
    given = package(Conditions(tmp_path), [], tmp_path)
    with contextlib.closing(Cluster(Threads(machines), given, tmp_path, each=True)) as executor:
        executor.prepare()
        yield executor


def test_each_group_of_machines_carries_out_its_own_tasks(two_groups):
    assert two_groups.groups == [Idle.GROUP, OTHER]
    parts = {group: two_groups.only(group) for group in two_groups.groups}
    assert [(part.slots, part.diagnosis_slots) for part in parts.values()] == [(3, 2), (2, 1)]
    for part, given in zip(parts.values(), (tasks(30), tasks(12)), strict=True):
        for task in given:
            part.start(task)
    finished: dict[str, list[tuple[Task, Result]]] = {group: [] for group in parts}
    while sum(map(len, finished.values())) < 42:
        for group, part in parts.items():
            finished[group] += part.wait(0.02)
    assert {group: indices(done) for group, done in finished.items()} == {
        Idle.GROUP: list(range(30)),
        OTHER: list(range(12)),
    }
    assert two_groups.machines() == [
        f"3 workers on 2 machines of the cluster: {Idle.GROUP}",
        f"2 workers on 1 machine of the cluster: {OTHER}",
    ]


def test_a_group_whose_machines_are_gone_does_not_keep_the_others_from_working(two_groups, monkeypatch):
    monkeypatch.setattr(cluster_module, "ALONE", 0.0)
    gone, left = two_groups.only(OTHER), two_groups.only(Idle.GROUP)
    del two_groups._engine.there["c"]
    for handle, agent in list(two_groups._agents.items()):
        if agent.group == OTHER:
            two_groups._lose(handle, "switched off")
    gone.start(tasks(1)[0])
    assert gone.wait(0.01) == []
    with pytest.raises(AutotestError, match=f"no machine of the cluster can be used with {OTHER}"):
        gone.wait(0.01)
    for task in tasks(8):
        left.start(task)
    finished: list[tuple[Task, Result]] = []
    while len(finished) < 8:
        finished += left.wait(0.02)
    assert indices(finished) == list(range(8))


def test_units_are_dealt_to_every_group_and_come_back_with_its_name(two_groups):
    done = [(group, task.indices[0]) for group, task, _ in run_on_groups(two_groups, tasks(7))]
    assert sorted(done) == sorted((group, number) for group in (Idle.GROUP, OTHER) for number in range(7))


class _Waits(Idle):
    """Does not finish before another machine has done something."""

    def __init__(self, other: threading.Event) -> None:
        super().__init__()
        self._other = other

    def result(self, task: Task) -> Result:
        assert isinstance(task, Explore)
        if task.indices[0] == 3:
            self._other.wait(30)
        return super().result(task)


class _Sets(Idle):
    """Reports that it has done something, and belongs to another group."""

    def __init__(self, event: threading.Event) -> None:
        super().__init__(group=OTHER)
        self._event = event

    def result(self, task: Task) -> Result:
        self._event.set()
        return super().result(task)


def test_a_group_whose_first_machine_comes_late_does_all_tasks_too(tmp_path, monkeypatch):
    monkeypatch.setattr("autotest.clusters.machines.LOOK_EVERY", 0.01)
    came = threading.Event()
    threads = Threads({"a": (1, lambda: _Waits(came))})
    given = package(Conditions(tmp_path), [], tmp_path)
    with contextlib.closing(Cluster(threads, given, tmp_path, each=True)) as executor:
        executor.prepare()
        threads.there["late"] = (2, lambda: _Sets(came))
        done = [(group, task.indices[0]) for group, task, _ in run_on_groups(executor, tasks(7))]
        assert sorted(done) == sorted((group, number) for group in (Idle.GROUP, OTHER) for number in range(7))
        assert executor.machines() == [
            f"1 worker on 1 machine of the cluster: {Idle.GROUP}",
            f"2 workers on 1 machine of the cluster: {OTHER}",
        ]


def test_a_group_whose_machines_are_gone_is_told_when_the_others_have_done_everything(two_groups, monkeypatch):
    monkeypatch.setattr(cluster_module, "ALONE", 0.0)
    del two_groups._engine.there["c"]
    for handle, agent in list(two_groups._agents.items()):
        if agent.group == OTHER:
            two_groups._lose(handle, "switched off")
    done = [(group, task.indices[0]) for group, task, _ in run_on_groups(two_groups, tasks(7))]
    assert sorted(done) == [(Idle.GROUP, number) for number in range(7)]
    assert two_groups.machines_left_out()[0].startswith(
        f"given up: no machine of the cluster can be used with {OTHER}: "
    )


class _Explaining(Idle):
    """Reports for each finding where it was diagnosed."""

    def result(self, task: Any) -> Any:
        assert isinstance(task, ExplainTask)
        task.finding.verdict = (f"looked into on {self.facts.group}",)
        return task.finding


def swept(number: int, groups: dict[str, int]) -> SweepFinding:
    program = Program((), ())
    return SweepFinding(number, "relu", "value", "key", "differs", "sample 1", [], 1, 1, program, groups=groups)


def test_a_finding_of_a_sweep_is_looked_into_by_machines_that_saw_it(tmp_path):
    machines = {"a": (3, _Explaining), "b": (1, lambda: _Explaining(group=OTHER))}
    cluster = Cluster(Threads(machines), package(Conditions(tmp_path), [], tmp_path), tmp_path, each=True)
    found = [swept(0, {OTHER: 2}), swept(1, {Idle.GROUP: 1, OTHER: 4}), swept(2, {Idle.GROUP: 5, OTHER: 4})]
    with SweepOnCluster(cluster, 1, 20.0, None, Databases()) as engine:
        engine.diagnose_findings(found, 60.0, 60.0)
    where = [verdict.removeprefix("looked into on ") for one in found for verdict in one.verdict]
    assert where == [OTHER, OTHER, Idle.GROUP]


def test_findings_of_a_sweep_whose_machines_are_gone_are_told_without_a_verdict(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "ALONE", 0.05)
    monkeypatch.setattr("autotest.clusters.machines.LOOK_EVERY", 0.01)

    class Dying(Idle):
        def result(self, task: Any) -> Any:
            engine_of_threads.there.clear()
            raise RuntimeError("the machine is gone")

    engine_of_threads = Threads({"a": (1, Dying)})
    cluster = Cluster(engine_of_threads, package(Conditions(tmp_path), [], tmp_path), tmp_path)
    (found,) = [swept(0, {})]
    with SweepOnCluster(cluster, 1, 20.0, None, Databases()) as engine:
        engine.diagnose_findings([found], 60.0, 60.0)
    assert found.verdict[0].startswith("no verdict: no machine of the cluster can be used")
