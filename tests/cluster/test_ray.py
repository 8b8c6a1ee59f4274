"""Campaigns on a real Ray cluster find the same as others, even if parts of the cluster die meanwhile."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from autotest.base.errors import UsageError
from autotest.storage import records
from autotest.storage.store import Stored
from autotest.sweeping import journal
from tests.cluster.campaigns import SIX
from tests.cluster.conftest import SUITE, RayCluster, in_session

pytestmark = [
    pytest.mark.usefixtures("importable_elsewhere"),
    # Without importing Ray, which takes seconds: only processes that these tests start use it.
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
]


def what_it_is(entry: Stored) -> tuple[Any, ...]:
    """Return a finding without the parts that depend on when it was found."""
    finding = entry.finding
    return finding.identity, finding.test


def what_its_trial_shows(entry: Stored) -> tuple[Any, ...]:
    """Return the parts of a finding that depend on its trial, and on nothing else."""
    finding = entry.finding
    return [item.message for item in finding.mismatches], finding.verdict


CONNECTED = """
from autotest.clusters.ray_engine import RayEngine
engine = RayEngine("", 1)
engine.connect()
import ray
print("runtime environment:", dict(ray.get_runtime_context().runtime_env))
engine.close()
"""


@pytest.mark.slow
def test_below_uv_run_ray_is_given_nothing_of_the_working_directory(tmp_path, importable_elsewhere):
    (tmp_path / "connected.py").write_text(CONNECTED)
    # A shell whose command line begins like that of uv, with the command as its child.
    (tmp_path / "run").write_text(f"{shlex.quote(sys.executable)} connected.py\nexit $?\n")
    ran = subprocess.run(["uv", "run"], executable="/bin/sh", cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "runtime environment: {}\n" in ran.stdout, ran.stderr


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_one_worker_four_here_and_four_on_ray_run_the_same_trials_and_find_the_same(fuzz):
    ways = {"one": ("--jobs", 1), "four": ("--jobs", 4), "ray": ("--jobs", 4, "--executor", "ray")}
    runs = {}
    for name, options in ways.items():
        # The findings are compared. On Ray, scripts must have been verified where the workers are.
        verify = {"AUTOTEST_VERIFY": "1" if name == "ray" else "0"}
        runs[name] = fuzz(SUITE, "-k", SIX, "--trials", 30, "--seed", 7, *options, folder=name, **verify).ended()
        assert runs[name].process.returncode == 1, runs[name].output
    one = runs["one"]
    assert len(one.kept) == 3
    assert set(one.trials.values()) == {30}
    for name in ("four", "ray"):
        other = runs[name]
        assert other.trials == one.trials, name
        assert {key: what_it_is(entry) for key, entry in other.kept.items()} == {
            key: what_it_is(entry) for key, entry in one.kept.items()
        }
        # If a worker is slow to start, another one may show the same failure in a later trial first.
        alike = [key for key, entry in one.kept.items() if entry.finding.index == other.kept[key].finding.index]
        for key in alike:
            assert what_its_trial_shows(other.kept[key]) == what_its_trial_shows(one.kept[key]), name
    # The finding of an agent names the folder on this machine, and was verified in a new interpreter there.
    for key, entry in runs["ray"].kept.items():
        assert f"python .autotest/failures/{key}/repro.py (verified in a fresh interpreter)" in entry.report
    assert "4 workers on 1 machine of the cluster: torch" in runs["ray"].output
    assert in_session(runs["ray"].process.pid) == []


TRAVELS = """
from autotest import autotest, random_tensor, torch
from helper import low

@autotest(special_values=False)
def test_relu():
    return torch.relu(random_tensor(ndim=2, low=low()))

@autotest(special_values=False)
def test_exp():
    return torch.exp(random_tensor(ndim=2, low=low()))
"""


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_test_files_travel_to_a_cluster_that_runs_already_and_a_node_that_goes_away_costs_nothing(
    fuzz, cluster: RayCluster, tmp_path
):
    place = tmp_path / "here"
    (place / "tests").mkdir(parents=True)
    (place / "tests" / "test_travels.py").write_text(TRAVELS)
    (place / "tests" / "helper.py").write_text("def low():\n    return 0.5\n")
    campaign = fuzz("tests", "--trials", 3000, "--seed", 1, "--executor", f"ray://{cluster.address}")
    for line in campaign.read():
        if line.startswith("found "):
            break
    cluster.nodes[1].kill()
    campaign.ended()
    assert campaign.process.returncode == 1, campaign.output
    assert campaign.trials == {"test_travels.py::test_relu": 3000, "test_travels.py::test_exp": 3000}
    (entry,) = campaign.kept.values()
    assert entry.finding.operator == "relu"
    assert f"python .autotest/failures/{entry.key}/repro.py (verified" in entry.report


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("cluster", [{"TESTS_RELEASE": "2"}], indirect=True, ids=["two versions"])
def test_each_group_of_machines_runs_the_same_and_has_a_column_of_the_report(
    fuzz, cluster: RayCluster, tmp_path, monkeypatch
):
    where = f"ray://{cluster.address}"
    reports = ("--junitxml", "out.xml", "--html", "out.html")
    three = ("-k", "'relu' or 'tanh' or 'exp'")
    options = ("--trials", 20, "--seed", 7, "--executor", where, "--each-group")
    campaign = fuzz(SUITE, *three, *options, *reports, candidate="released").ended()
    assert campaign.process.returncode == 1, campaign.output
    found = json.loads((campaign.folder / "out.json").read_text())
    first, second = (group["name"] for group in found["groups"])
    assert ("/ faulty 1 on cpu" in first, "/ faulty 2 on cpu" in second) == (True, True)
    told = [(group["workers"], group["trials"], group["findings"]) for group in found["groups"]]
    assert told == [(2, 3 * 20, 2), (2, 3 * 20, 1)]
    seen = {finding["operator"]: finding["groups"] for finding in found["findings"]}
    assert seen == {"relu": {first: 20}, "tanh": {first: 20, second: 20}}
    assert {key: entry.finding.operator for key, entry in campaign.kept.items()} == {
        finding["key"]: finding["operator"] for finding in found["findings"]
    }
    assert re.search(r"^Group +A +B$", campaign.output, re.MULTILINE), campaign.output
    suites = {suite.get("name"): suite.get("failures") for suite in ET.parse(campaign.folder / "out.xml").getroot()}
    assert suites == {f"autotest fuzz on {first}": "2", f"autotest fuzz on {second}": "1"}

    # Sweeps and gradient accounts have the same column. A finding that this process's frameworks would not show
    # is diagnosed where it was found.
    monkeypatch.setenv("TESTS_RELEASE", "2")
    swept = ("sweep", "-k", "relu/function/float32", "--json", "map.json", "--each-group")
    assert re.search(r"^Group +A +B$", told_by(tmp_path, *swept, where=where, candidate="released"), re.MULTILINE)
    swept_map = json.loads((tmp_path / "map.json").read_text())
    assert [group["name"] for group in swept_map["groups"]] == [first, second]
    assert swept_map["groups"][0]["trials"] == swept_map["groups"][1]["trials"] > 0
    assert {one["operator"]: list(one["groups"]) for one in swept_map["findings"]}["relu"] == [first]
    assert {one["verified"] for one in swept_map["findings"]} == {"verified in a fresh interpreter"}

    asked = ("gradients", SUITE, "--trials", 1, *three, "--each-group")
    told_of_gradients = told_by(tmp_path, *asked, where=where, candidate="released")
    assert re.search(r"^trials +3 +3$", told_of_gradients, re.MULTILINE), told_of_gradients


def begun(folder: Path, *arguments: object, where: str, candidate: str = "mixed") -> subprocess.Popen[str]:
    """Start a command with its workers at `where`, in a new session."""
    command = [sys.executable, "-m", "autotest", *map(str, arguments), "--executor", where]
    environment = {**os.environ, "AUTOTEST_CANDIDATE": f"tests.support.deadly:{candidate}"}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def told_by(folder: Path, *arguments: object, where: str, candidate: str = "mixed") -> str:
    """Return the output of a command with its workers at `where`; assert that no process of its session remains."""
    process = begun(folder, *arguments, where=where, candidate=candidate)
    output = process.communicate()[0]
    assert process.returncode in (0, 1, 2), output
    assert in_session(process.pid) == []
    return output


def judged(place: Path) -> int:
    """Return the number of units of a sweep that are complete, according to its journal."""
    try:
        return len(journal.read(place)[1])
    except UsageError:  # it does not exist yet
        return 0


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_sweep_on_ray_that_was_killed_and_resumed_comes_to_what_one_here_comes_to(tmp_path, quick):
    asked = ("sweep", "-k", "relu/function or sinh/out=/float32", "--no-explain", "--jobs", 2, "--json")
    told_by(tmp_path, *asked, "local.json", where="local")
    killed = begun(tmp_path, *asked, "killed.json", where="ray")
    while not judged(journal.journal_path(quick, (1, 1))) and killed.poll() is None:
        time.sleep(0.1)
    killed.kill()
    killed.communicate()
    before = judged(journal.journal_path(quick, (1, 1)))
    resumed = told_by(tmp_path, *asked, "ray.json", "--resume", where="ray")
    assert before > 0
    assert f"resumed: {before:,} units were judged before" in resumed
    here, there = (json.loads((tmp_path / f"{where}.json").read_text()) for where in ("local", "ray"))
    assert [(cell["operator"], cell["status"], cell["accepted"]) for cell in there["cells"]] == [
        (cell["operator"], cell["status"], cell["accepted"]) for cell in here["cells"]
    ]
    assert {(one["operator"], one["check"]) for one in there["findings"]} == {
        (one["operator"], one["check"]) for one in here["findings"]
    }
    assert {"relu", "sinh"} <= {one["operator"] for one in there["findings"]}
    assert any(note.startswith("2 workers on 1 machine of the cluster") for note in there["notes"])


def of_how_many_tests(folder: Path) -> int:
    """Return the number of tests whose account a running command has stored."""
    try:
        return len(list(records.read(folder / "gradients" / "last")[1]))
    except OSError:  # it does not exist yet
        return 0


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.usefixtures("own_temporary_folder")
def test_the_accounts_of_gradients_on_ray_that_were_killed_and_resumed_are_those_kept_here(tmp_path, quick):
    asked = ("gradients", SUITE, "--trials", 1, "-k", SIX, "--jobs", 2)
    here = told_by(tmp_path, *asked, where="local")
    killed = begun(tmp_path, *asked, where="ray")
    # The stored ones are removed when the command begins, and then the tests are stored one after the other.
    while not 0 < of_how_many_tests(quick) < 6 and killed.poll() is None:
        time.sleep(0.05)
    killed.kill()
    killed.communicate()
    assert told_by(tmp_path, *asked, "--resume", where="ray") == here
    assert "its process died (SIGSEGV)" in here
    assert of_how_many_tests(quick) == 6
