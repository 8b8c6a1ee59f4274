"""Reports have a column for each group of machines, and campaigns of several groups run side by side."""

from __future__ import annotations

import collections
import contextlib
import copy
import threading
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from autotest.base.errors import UsageError
from autotest.base.settings import Settings
from autotest.campaigns.campaign import Campaign, Plan, progress_of
from autotest.campaigns.executor import NullObserver
from autotest.campaigns.history import History
from autotest.campaigns.round_robin import run_in_turns
from autotest.cli import fuzz_groups
from autotest.cli.fuzz_groups import CampaignShard, CampaignsOfHistory
from autotest.clusters.cluster import Cluster
from autotest.clusters.packing import package
from autotest.report import campaign as text
from autotest.report import campaign_json, gradients, junit, markdown, sweep_html, sweep_text
from autotest.results.campaign_map import campaign_map
from autotest.results.combined import combined
from autotest.results.gradient_account import GradientAccount, Use
from autotest.results.groups import of_campaign, of_sweep
from autotest.results.identity import Identity
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.sweep import Cell, CellDivergence, CellKey, SweepMap, SweepRow
from autotest.results.sweep_findings import findings
from autotest.results.sweep_format import as_data
from autotest.results.tasks import Conditions, Explore, Explored, FindingRecord, Result, Task, Where
from autotest.results.verification import State, Verification
from autotest.sources.collected import Collected
from autotest.sources.collection import Collection
from tests.support.threads import Idle, Threads

CPU, CUDA = "torch 2.0.1 / mine 1 on cpu", "torch 2.0.1 / mine 1 on cpu and cuda"
RELU, EXP = (Where(Path(f"tests/test_{name}.py"), f"test_{name}.py::test", 7) for name in ("relu", "exp"))
VALUE, CRASH = (
    Identity(name, how, "forward", "candidate", "", "") for name, how in (("relu", "value"), ("exp", "crash"))
)


def found(identity: Identity, where: Where, state: State = State.VERIFIED) -> FindingRecord:
    key = f"{identity.operator}-{identity.symptom}"
    return FindingRecord(key, identity, where, 4, f"kept/{key}", Verification(state), "", "not close", "the report")


def on_a_group(workers: int, accepted: int, *seen: tuple[FindingRecord, int]) -> CampaignProgress:
    tests = [TestProgress(where, tried=accepted, accepted=accepted) for where in (RELU, EXP)]
    made = CampaignProgress(7, tests, found={one.identity: one for one, _ in seen}, seconds=10.0, workers=workers)
    made.seen.update({one.identity: times for one, times in seen})
    return made


@pytest.fixture
def both() -> CampaignProgress:
    """`relu` is wrong on all groups, and `exp` crashes on one group only."""
    return combined(
        {
            CPU: on_a_group(12, 100, (found(VALUE, RELU), 9)),
            CUDA: on_a_group(3, 40, (found(CRASH, EXP), 1), (found(VALUE, RELU), 4)),
        }
    )


def test_the_whole_is_the_sum_of_the_groups_and_leaves_them_as_they_are(both):
    assert (both.trials, both.workers, both.seen) == (280, 15, collections.Counter({VALUE: 13, CRASH: 1}))
    assert [(test.where, test.accepted) for test in both.tests] == [(RELU, 140), (EXP, 140)]
    assert [(group.name, group.workers, group.trials, group.findings) for group in of_campaign(both)] == [
        (CPU, 12, 200, 1),
        (CUDA, 3, 80, 2),
    ]


def test_of_one_finding_of_two_groups_the_one_with_a_script_is_told():
    waiting, looked_into = found(CRASH, EXP, State.WAITING), found(CRASH, EXP)
    for first, second in ((waiting, looked_into), (looked_into, waiting)):
        whole = combined({CPU: on_a_group(1, 1, (first, 1)), CUDA: on_a_group(1, 1, (second, 1))})
        assert list(whole.found.values()) == [looked_into]


def test_the_summary_has_a_column_a_group_and_says_where_each_finding_was_seen(both):
    table = text.summary(both).split("\n\n")[1]
    assert [line.split() for line in table.splitlines()[:4]] == [
        ["Group", "A", "B"],
        ["workers", "12", "3"],
        ["trials", "200", "80"],
        ["distinct", "findings", "1", "2"],
    ]
    assert [line.split()[-2:] for line in table.splitlines()[4:6]] == [["9x", "4x"], ["-", "1x"]]
    assert table.splitlines()[6:] == [f"A: {CPU}", f"B: {CUDA}"]
    assert "1. relu: value (forward), seen 13x on A and B\n" in text.summary(both)
    assert "2. exp: crash (forward), seen 1x on B\n" in text.summary(both)


def test_a_campaign_on_machines_that_are_alike_has_no_columns():
    alone = on_a_group(2, 5, (found(VALUE, RELU), 1))
    assert "Group" not in text.summary(alone)
    assert "1. relu: value (forward), seen 1x\n" in text.summary(alone)
    assert campaign_json.as_data(alone, ("torch", "mine"), {})["groups"] == []


def test_json_junit_markdown_and_the_page_tell_the_groups_apart(both):
    document = campaign_json.as_data(both, ("torch", "mine"), {})
    assert [group["name"] for group in document["groups"]] == [CPU, CUDA]
    assert [finding["groups"] for finding in document["findings"]] == [{CPU: 9, CUDA: 4}, {CUDA: 1}]
    suites = ET.fromstring(junit.as_xml(both).partition("?>")[2])
    assert {suite.get("name"): suite.get("failures") for suite in suites} == {
        f"autotest fuzz on {CPU}": "1",
        f"autotest fuzz on {CUDA}": "2",
    }
    assert f"|  | {CPU} | {CUDA} |" in markdown.campaign(both).splitlines()
    swept, listed = campaign_map(both, ("torch", "mine"), {}, {})
    mapped = as_data(swept, listed)
    assert [(group["name"], group["trials"]) for group in mapped["groups"]] == [(CPU, 200), (CUDA, 80)]
    assert [finding["groups"] for finding in mapped["findings"]] == [{CPU: 9, CUDA: 4}, {CUDA: 1}]
    assert "http" not in sweep_html.page(mapped)


def judged(group: str, samples: int, *divergent: str) -> Cell:
    """Return what one group of machines returns for a unit."""
    cell = Cell(accepted=samples)
    for key in divergent:
        cell.diverged(CellDivergence("value", key, key, "sample 1", samples=2))
    cell.of_group(group)
    return cell


def test_a_sweep_tells_which_group_saw_a_divergence_also_after_it_was_resumed():
    key = CellKey("relu", "function", "float32")
    swept = SweepMap(("torch", "mine"), {}, 0, "", workers={CPU: 2, CUDA: 1})
    swept.rows[key] = SweepRow(key, "unary", "torch")
    for part in (
        judged(CPU, 8),
        judged(CUDA, 8, "only there"),
        judged(CPU, 3, "everywhere"),
        judged(CUDA, 3, "everywhere"),
    ):
        swept.rows[key].cell.merge(copy.deepcopy(part))
    listed = findings(swept)
    assert {one.key: one.groups for one in listed} == {"only there": {CUDA: 2}, "everywhere": {CPU: 2, CUDA: 2}}
    assert [(group.trials, group.findings) for group in of_sweep(swept, listed)] == [(11, 1), (11, 2)]
    told = sweep_text.summary(swept, listed)
    assert ["relu:", "value", "-", "2x"] in [line.split() for line in told.splitlines()], told
    rows = [line.split() for line in told.splitlines() if line.startswith("relu: value")]
    assert len(rows) == 1  # a result that all groups have is not a difference between them


def test_accounts_of_gradients_have_a_column_a_group():
    here, there = GradientAccount(), GradientAccount()
    here.add("test", [Use("relu", "numeric"), Use("exp", "missing", "no backward")])
    there.add("test", [Use("relu", "compared")])
    lines = [line.split() for line in gradients.by_group({CPU: here, CUDA: there}).splitlines()]
    assert lines[:3] == [["Group", "A", "B"], ["exp", "MISSING", "-"], ["relu", "numeric", "compared"]]


class _Executor:
    """Claims to have run each task, unless the test prescribes another result."""

    slots, diagnosis_slots = 1, 1

    def __init__(self, trouble: BaseException | None = None) -> None:
        self._waiting: list[Explore] = []
        self._trouble = trouble

    def start(self, task: Explore) -> None:
        self._waiting.append(task)

    def wait(self, seconds: float) -> list[tuple[Explore, Explored]]:
        if self._trouble is not None and self._waiting[0].indices[0] > 0:
            raise self._trouble
        done = [(task, Explored(1, 1)) for task in self._waiting]
        self._waiting.clear()
        for task, result in done:
            result.done = result.accepted = len(task.indices)
        return done


def campaigns(**trouble: BaseException | None) -> dict[str, Campaign]:
    made = {}
    for name, error in trouble.items():
        progress = CampaignProgress(7, [TestProgress(RELU)])
        made[name] = Campaign(progress, Plan(7, trials=50), _Executor(error), NullObserver())
    return made


def test_campaigns_side_by_side_come_to_what_each_comes_to_alone():
    both = campaigns(a=None, b=None)
    assert run_in_turns(both) == {}
    assert [one.progress.accepted for one in both.values()] == [50, 50]


def test_a_campaign_that_cannot_go_on_costs_the_others_nothing():
    both = campaigns(a=OSError("no machine left"), b=None)
    failures = run_in_turns(both)
    assert str(failures["a"]) == "no machine left"
    assert [one.progress.stopped for one in both.values()] == ["ended by OSError", ""]
    assert both["b"].progress.accepted == 50


def test_an_interrupt_ends_all_of_them_and_each_writes_down_where_it_stands():
    all_of_them = campaigns(a=None, b=KeyboardInterrupt(), c=None)
    written = []
    for name, one in all_of_them.items():
        one._save = lambda *_, name=name: written.append(name)
    assert run_in_turns(all_of_them) == {}
    assert {one.progress.stopped for one in all_of_them.values()} == {"interrupted"}
    assert set(written) == {"a", "b", "c"}


def test_a_campaign_of_groups_goes_on_where_each_of_them_was(tmp_path):
    class Counting(Idle):
        def result(self, task: Task) -> Result:
            assert isinstance(task, Explore)
            tried.extend((self.facts.group, index) for index in task.indices)
            return super().result(task)

    tried: list[tuple[str, int]] = []
    collected = Collection([Collected("a", Path("t.py"), Settings(), print)])
    for trials, there in ((5, (CPU,)), (9, (CPU, CUDA))):
        machines = {group: (1, lambda group=group: Counting(group=group)) for group in there}
        cluster = Cluster(Threads(machines), package(Conditions(tmp_path), [], tmp_path), tmp_path, each=True)
        with contextlib.closing(cluster), contextlib.closing(History(tmp_path)) as history:
            cluster.prepare()
            begun = CampaignsOfHistory(history, CampaignShard((1, 1), each=True), resume=trials > 5)
            begun(progress_of(collected, 7))
            whole, failure = fuzz_groups.run(cluster, collected, Plan(7, trials=trials), NullObserver(), begun)
        assert failure is None
        assert {name: part.accepted for name, part in whole.groups.items()} == dict.fromkeys(there, trials)
    # Machines that were absent before begin with the first trial.
    assert sorted(tried) == [(group, index) for group in (CPU, CUDA) for index in range(9)]
    with contextlib.closing(History(tmp_path)) as history, pytest.raises(UsageError, match="no campaign of shard 1/1"):
        history.last("1/1")


def test_a_group_whose_first_machine_comes_late_has_a_campaign_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr("autotest.clusters.machines.LOOK_EVERY", 0.01)
    came = threading.Event()

    class Waits(Idle):
        def result(self, task: Task) -> Result:
            came.wait(30)
            return super().result(task)

    class Comes(Idle):
        def result(self, task: Task) -> Result:
            came.set()
            return super().result(task)

    threads = Threads({"a": (1, lambda: Waits(group=CPU))})
    collected = Collection([Collected("a", Path("t.py"), Settings(), print)])
    cluster = Cluster(threads, package(Conditions(tmp_path), [], tmp_path), tmp_path, each=True)
    with contextlib.closing(cluster), contextlib.closing(History(tmp_path)) as history:
        cluster.prepare()
        threads.there["late"] = (1, lambda: Comes(group=CUDA))
        begun = CampaignsOfHistory(history, CampaignShard((1, 1), each=True), resume=False)
        whole, failure = fuzz_groups.run(cluster, collected, Plan(7, trials=4), NullObserver(), begun)
    assert failure is None
    assert {name: part.accepted for name, part in whole.groups.items()} == {CPU: 4, CUDA: 4}
