"""Every cluster engine satisfies the same contract, and an engine of local processes takes few lines."""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from autotest.campaigns.campaign import Campaign, Plan, progress_of
from autotest.campaigns.executor import NullObserver
from autotest.campaigns.workers import Workers
from autotest.cli.executors import Prepared
from autotest.clusters.agent import Agent
from autotest.clusters.cluster import Cluster
from autotest.clusters.packing import package
from autotest.frameworks import chosen_names
from autotest.results.identity import DEADLY, Identity
from autotest.results.tasks import Conditions
from autotest.sources.collection import collect
from tests.support import processes
from tests.support.engine_contract import Echo, check
from tests.support.processes import Processes
from tests.support.threads import Threads

TESTS = """
from autotest import autotest, random_tensor, torch

@autotest(special_values=False)
def test_relu():
    return torch.relu(random_tensor(ndim=2))

@autotest(special_values=False)
def test_sinh():
    return torch.sinh(random_tensor(ndim=2))
"""


def test_threads_keep_the_contract():
    check(Threads({"here": (2, Echo)}), processes=False)


@pytest.mark.usefixtures("importable_elsewhere")
def test_processes_of_the_standard_library_keep_the_contract_in_less_than_a_hundred_lines():
    check(Processes(2, Echo), processes=True)
    assert len(Path(processes.__file__).read_text().splitlines()) < 100


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("importable_elsewhere")
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
def test_ray_keeps_the_contract():
    # In a separate process, because threads and signal handlers of Ray remain.
    asked = [sys.executable, "-m", "tests.support.engine_contract"]
    told = subprocess.run(asked, check=False, capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("importable_elsewhere", "quick")
def test_a_campaign_on_agents_in_processes_comes_to_what_one_here_comes_to(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.deadly:mixed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_two.py").write_text(TESTS)

    def came_to(name: str) -> tuple[dict[Identity, int], list[int]]:
        conditions = Conditions(tmp_path / name, chosen_names(), check_errors=True, shrink=0.0, verify=False)
        given = package(conditions, [Path("test_two.py")], tmp_path)
        executor: Prepared = (
            Workers(conditions, 2) if name == "here" else Cluster(Processes(2, Agent), given, conditions.directory)
        )
        progress = progress_of(collect([Path("test_two.py")]), 7)
        with contextlib.closing(executor):
            executor.prepare()
            Campaign(progress, Plan(7, trials=12), executor, NullObserver()).run()
        # How many trials die before a call is avoided, or run at that time, depends on the order of requests.
        dead = {identity: times for identity, times in progress.seen.items() if identity.symptom in DEADLY}
        assert sum(test.died for test in progress.tests) == sum(dead.values())
        return {**progress.seen, **dict.fromkeys(dead, 1)}, [test.tried for test in progress.tests]

    here = came_to("here")
    assert came_to("there") == here
    assert {identity.operator for identity in here[0]} == {"relu", "sinh"}
    assert here[1] == [12, 12]
