"""Trials that a campaign runs: a trial has ended only when its candidate has finished computing."""

from __future__ import annotations

import gc
import resource

import pytest
import torch

from autotest.base.errors import StoreUnwritable
from autotest.campaigns import exploring, task_tally
from autotest.campaigns.worker_breadcrumbs import current_activity
from autotest.frameworks.torch import TorchFramework
from autotest.processes import breadcrumb
from autotest.processes.breadcrumb import Breadcrumb
from autotest.processes.client import Server
from autotest.report import campaign
from autotest.results.progress import CampaignProgress, TestProgress
from autotest.results.tasks import Conditions, Diagnose, Explore, Undiagnosed, Vanished, Where
from autotest.trials import memory
from tests.support.faulty import FaultyTorch, plus
from tests.support.graph_torch import GraphTorch

SUITE = """
from autotest import autotest, random_tensor, torch


@autotest(n=5)
def test_relu():
    return torch.relu(random_tensor(2))
"""
BACKWARD = """

@autotest(n=5)
def test_backward():
    x = random_tensor(2, requires_grad=True)
    {backward}
    return x
"""


def test_a_trial_ends_when_the_candidate_has_nothing_left_to_die_of(tmp_path, monkeypatch, against):
    file = tmp_path / "test_relu.py"
    file.write_text(SUITE)
    crumb = Breadcrumb(tmp_path / "1.trail")
    done: list[tuple[str, int]] = []

    class Waiting(TorchFramework):
        def synchronize(self):
            position = breadcrumb.read(crumb.path)
            done.append(("waited", -1 if position is None else position.index))

    against(Waiting("waiting"))
    run_trial = exploring.run_trial

    def run(*arguments, **options):
        outcome = run_trial(*arguments, **options)
        done.append(("ran", breadcrumb.read(crumb.path).index))
        return outcome

    monkeypatch.setattr(exploring, "run_trial", run)
    task = Explore(Where(file, "test_relu.py::test_relu", 0), range(3), seconds=60.0)
    result = exploring.run_task(task, Conditions(tmp_path / "kept"), crumb, Server())
    crumb.close()
    assert (result.done, result.broken) == (3, "")
    for index in range(3):
        assert done[done.index(("ran", index)) + 1] == ("waited", index)


def test_while_a_trial_is_judged_its_trail_says_so(tmp_path, monkeypatch, against):
    file = tmp_path / "test_relu.py"
    file.write_text(SUITE)
    against(TorchFramework("other"))
    crumb = Breadcrumb(tmp_path / "1.trail")
    seen = []

    class Noting(task_tally.FailedTrial):
        def judged(self, *arguments):
            seen.append(current_activity(crumb.path))
            return super().judged(*arguments)

    monkeypatch.setattr(task_tally, "FailedTrial", Noting)
    task = Explore(Where(file, "test_relu.py::test_relu", 0), range(3), seconds=60.0)
    exploring.run_task(task, Conditions(tmp_path / "kept"), crumb, Server())
    assert seen == ["judging"] * 3
    crumb.trial(3)
    assert current_activity(crumb.path) == "running"
    crumb.close()


def test_the_traceback_of_a_broken_test_with_fixtures_has_its_own_lines_only(tmp_path, against):
    file = tmp_path / "test_broken.py"
    file.write_text(SUITE.replace("def test_relu():", "def test_relu(tmp_path):\n    assert tmp_path.suffix"))
    against(TorchFramework("other"))
    task = Explore(Where(file, "test_broken.py::test_relu", 0), range(3), seconds=60.0)
    broken = exploring.run_task(task, Conditions(tmp_path / "kept"), None, Server()).broken
    assert "AssertionError" in broken
    assert [line for line in broken.splitlines() if "File " in line and str(file) not in line] == []


LARGE = """
from autotest import autotest, random_tensor, torch


@autotest(n=5)
def test_linear():
    return torch.nn.Linear(31, 3)(random_tensor(ndim=2, dim1=31, dtype="float32"))
"""


def test_large_modules_of_a_trial_are_freed_before_the_next_one(tmp_path, monkeypatch, against):
    file = tmp_path / "test_linear.py"
    file.write_text(LARGE)
    against(TorchFramework("other"))
    monkeypatch.setattr(memory, "MUCH", 50)
    alive = []
    run_trial = exploring.run_trial

    def run(*arguments, **options):
        alive.append(sum(type(one) is torch.nn.Linear and one.in_features == 31 for one in gc.get_objects()))
        return run_trial(*arguments, **options)

    monkeypatch.setattr(exploring, "run_trial", run)
    task = Explore(Where(file, "test_linear.py::test_linear", 0), range(3), seconds=60.0)
    gc.disable()  # it collects garbage by itself after large trials, and then treats surviving objects as permanent
    try:
        exploring.run_task(task, Conditions(tmp_path / "kept"), None, Server())
    finally:
        gc.enable()
    assert alive == [0, 0, 0]


def test_trials_that_end_before_a_call_that_is_set_aside_are_no_rejections(tmp_path, against):
    file = tmp_path / "test_relu.py"
    file.write_text(SUITE)
    against(TorchFramework("other"))
    crumb = Breadcrumb(tmp_path / "1.trail")
    task = Explore(Where(file, "test_relu.py::test_relu", 0), range(3), seconds=60.0, set_aside=frozenset({"relu"}))
    result = exploring.run_task(task, Conditions(tmp_path / "kept"), crumb, Server())
    crumb.close()
    assert (result.done, result.accepted, result.rejections) == (3, 0, {})
    assert result.avoided == {"relu": 3}


@pytest.mark.parametrize("backward", ["x.sum().backward()", "torch.autograd.grad(x.sum(), x)"])
def test_trials_end_before_a_backward_that_is_set_aside_and_not_before_the_operator_that_it_is_named_after(
    tmp_path, against, backward
):
    file = tmp_path / "test_sum.py"
    forward = SUITE.replace("torch.relu(random_tensor(2))", "torch.sum(random_tensor(2, requires_grad=False))").replace(
        "test_relu", "test_sum"
    )
    file.write_text(forward + BACKWARD.format(backward=backward))
    against(TorchFramework("other"))
    crumb = Breadcrumb(tmp_path / "1.trail")
    avoided = []
    for test in ("test_sum", "test_backward"):
        place = Where(file, f"test_sum.py::{test}", 0)
        task = Explore(place, range(3), seconds=60.0, set_aside=frozenset({"sum (backward)"}))
        avoided.append(exploring.run_task(task, Conditions(tmp_path / "kept"), crumb, Server()).avoided)
    crumb.close()
    assert avoided == [{}, {"sum (backward)": 3}]


@pytest.mark.parametrize("short", [True, False], ids=["lacking memory", "wrong"])
def test_what_lacked_memory_has_no_more_of_it_while_that_is_judged(tmp_path, against, short):
    file = tmp_path / "test_relu.py"
    file.write_text(SUITE)
    limits = set()

    def noting(relu):
        def call(x):
            limits.add(resource.getrlimit(resource.RLIMIT_AS)[0] >> 30)
            if short:
                raise MemoryError
            return plus(1.0)(relu)(x)

        return call

    against(FaultyTorch({"relu": noting}))
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (64 << 30, before[1]))
    try:
        where = Where(file, "test_relu.py::test_relu", 0)
        conditions = Conditions(tmp_path / "kept", memory=1 << 30, verify=False, shrink=0.5)
        exploring.run_task(Explore(where, range(3), seconds=60.0), conditions, None, Server())
        exploring.run_task(Diagnose(where, 0, thorough=True), conditions, None, Server())
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert limits == ({64} if short else {64, 67})


def test_a_finding_whose_diagnosis_failed_says_so_in_place_of_a_verdict(tmp_path, against):
    file = tmp_path / "test_relu.py"
    file.write_text(SUITE)
    against(FaultyTorch({"relu": plus(1.0)}))
    where = Where(file, "test_relu.py::test_relu", 0)
    task = Diagnose(where, 0, thorough=True, shrink=False, trouble="a worker process died in it (exit status 0)")
    found = exploring.run_task(task, Conditions(tmp_path / "kept", verify=False), None, Server())
    said = "no verdict: the diagnosis failed: a worker process died in it (exit status 0)"
    assert said in " ".join(found.report.split())


def test_a_campaign_that_ends_before_a_graph_is_diagnosed_names_no_script(tmp_path, against):
    file = tmp_path / "test_relu.py"
    file.write_text(SUITE.replace("n=5", "n=5, check_graph=True"))
    against(GraphTorch({"relu": plus(1)}))
    where = Where(file, "test_relu.py::test_relu", 0)
    task = Diagnose(where, 0, thorough=False)
    found = exploring.run_task(task, Conditions(tmp_path / "kept"), None, Server())
    progress = CampaignProgress(0, [TestProgress(where)], found={found.identity: found})
    progress.seen[found.identity] = 1
    assert found.identity.symptom == "graph"
    assert found.script == "none"
    assert "no script yet; the same command with --resume writes one" in campaign.summary(progress)


def test_a_failed_trial_in_which_the_reference_disagrees_with_itself_is_diagnosed_as_rejected(tmp_path, against):
    file = tmp_path / "test_relu.py"
    file.write_text(SUITE)
    calls = [0]

    def another_every_time(relu):
        def varying(x):
            calls[0] += 1
            return relu(x) + calls[0]

        return varying

    against(reference=FaultyTorch({"relu": another_every_time}))
    task = Diagnose(Where(file, "test_relu.py::test_relu", 0), 0, thorough=False)
    found = exploring.run_task(task, Conditions(tmp_path / "kept"), None, Server())
    assert isinstance(found, Vanished)
    assert found.rejection.startswith("relu: NotRepeatable: faulty gives a different result when it runs again")


def test_a_failed_trial_whose_diagnosis_raises_is_not_one_that_does_not_happen_again(tmp_path, against, monkeypatch):
    def raising(*given, **named):
        raise StoreUnwritable("the disk is full")

    monkeypatch.setattr(exploring, "keep", raising)
    file = tmp_path / "test_relu.py"
    file.write_text(SUITE)
    against(FaultyTorch({"relu": plus(1.0)}))
    task = Diagnose(Where(file, "test_relu.py::test_relu", 0), 0, thorough=False)
    found = exploring.run_task(task, Conditions(tmp_path / "kept"), None, Server())
    assert isinstance(found, Undiagnosed)
    assert "StoreUnwritable: the disk is full" in found.why
