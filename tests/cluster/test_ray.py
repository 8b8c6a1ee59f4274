"""Campaigns on a real cluster of Ray: they find what others find, whatever dies meanwhile."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autotest.storage.store import Store, Stored
from tests.cluster.conftest import SUITE, RayCluster, free_port, in_session

pytestmark = [
    pytest.mark.usefixtures("importable_elsewhere"),
    # Not by importing it: that takes seconds, and Ray is only for the processes that these tests start.
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
]

#: One operator is wrong, two kill the process, and three are right.
SIX = "'relu' or 'sinh' or 'erf' or 'exp' or 'tanh' or 'cos'"


@dataclasses.dataclass
class Campaign:
    """One command, in a session of its own."""

    process: subprocess.Popen[str]
    folder: Path
    output: str = ""

    def ended(self) -> Campaign:
        self.output += self.process.communicate()[0]
        return self

    def read(self) -> Iterator[str]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output += line
            yield line

    @property
    def announced(self) -> set[str]:
        lines = [line.split() for line in self.output.splitlines() if line.startswith("found ")]
        return {words[1].rstrip(":") for words in lines}

    @property
    def trials(self) -> dict[str, int]:
        """Trials of each test, those that died among them."""
        told = json.loads((self.folder / "out.json").read_text())
        return {test["test"]: test["trials"] for test in told["tests"]}

    @property
    def kept(self) -> dict[str, Stored]:
        found = Store(self.folder / ".autotest").list()
        assert all(isinstance(entry, Stored) for entry in found), found
        return {entry.key: entry for entry in found if isinstance(entry, Stored)}


@pytest.fixture
def fuzz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Campaign]]:
    """Starts `autotest fuzz` in a folder of its own, for a candidate with faults; all of it is gone afterwards."""
    for name in ("SEED", "TRIAL", "N", "REFERENCE", "SHRINK", "VERIFY", "DIR"):
        monkeypatch.delenv(f"AUTOTEST_{name}", raising=False)
    started: list[int] = []

    def start(*arguments: object, folder: str = "here", candidate: str = "mixed", **environment: str) -> Campaign:
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "autotest", "fuzz", *map(str, arguments), "--json", "out.json"]
        known = {"AUTOTEST_CANDIDATE": f"tests.support.deadly:{candidate}", "AUTOTEST_SHRINK": "0"}
        process = subprocess.Popen(
            command,
            cwd=place,
            env={**os.environ, **known, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started.append(process.pid)
        return Campaign(process, place)

    yield start
    for session in started:
        for pid in in_session(session):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def what_it_is(entry: Stored) -> tuple[Any, ...]:
    """A finding without what depends on when it was found."""
    finding = entry.finding
    return finding.identity, finding.test, [item.message for item in finding.mismatches], finding.verdict


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_one_worker_four_here_and_four_on_ray_run_the_same_trials_and_find_the_same(fuzz):
    ways = {"one": ("--jobs", 1), "four": ("--jobs", 4), "ray": ("--jobs", 4, "--executor", "ray")}
    runs = {}
    for name, options in ways.items():
        runs[name] = fuzz(SUITE, "-k", SIX, "--trials", 30, "--seed", 7, *options, folder=name).ended()
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
    # What came from an agent tells of this machine's folder, and was run in a fresh interpreter there.
    for key, entry in runs["ray"].kept.items():
        assert f"python .autotest/failures/{key}/repro.py (verified in a fresh interpreter)" in entry.report
    assert "4 workers on 1 machine of the cluster: torch" in runs["ray"].output
    assert in_session(runs["ray"].process.pid) == []


def descended(pid: int) -> list[tuple[int, str]]:
    """The processes below `pid` with their command lines, as far down as they go."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
    found = list(parents.get(pid, []))
    for one in found:
        found += parents.get(one, [])
    told = []
    for one in found:
        with contextlib.suppress(OSError):
            told.append((one, Path(f"/proc/{one}/cmdline").read_text().replace("\0", " ")))
    return told


def victims(campaign: Campaign, kind: str) -> list[int]:
    """The processes of a kind that a campaign on a cluster of its own has now."""
    if kind == "driver":
        return [campaign.process.pid]
    everything = descended(campaign.process.pid)
    if kind == "raylet":
        return [pid for pid, command in everything if "/raylet/raylet " in command]
    agents = [pid for pid, command in everything if command.startswith("ray::Agent")]
    if kind == "agent":
        return agents
    servers = [pid for agent in agents for pid, command in descended(agent) if "processes.server" in command]
    return [pid for server in servers for pid, _ in descended(server)]


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_ten_kills_lose_nothing_that_was_announced_and_count_nothing_twice(fuzz):
    chance = random.Random(16)
    kinds = ["trial", "agent", "trial", "raylet", "driver", "trial", "agent", "trial", "agent", "driver"]
    options = (SUITE, "-k", SIX, "--trials", 4000, "--seed", 3, "--jobs", 2, "--executor", "ray")
    campaign = fuzz(*options, AUTOTEST_VERIFY="0")
    announced: set[str] = set()
    for number, kind in enumerate(kinds):
        for line in campaign.read():
            # Not before it works again after what was killed last.
            if " trials (" in line or line.startswith("found "):
                break
        time.sleep(chance.uniform(0.0, 3.0))
        found = victims(campaign, kind)
        if campaign.process.poll() is not None or not found:
            break
        with contextlib.suppress(ProcessLookupError):
            os.kill(chance.choice(found), signal.SIGKILL)
        if kind == "driver":
            campaign.ended()
            announced |= campaign.announced
            assert announced <= campaign.kept.keys(), number
            campaign = fuzz(*options, "--resume", AUTOTEST_VERIFY="0")
    campaign.ended()
    announced |= campaign.announced
    assert campaign.process.returncode == 1, campaign.output
    assert announced <= campaign.kept.keys()
    assert {"relu", "sinh", "erf"} <= {entry.finding.operator for entry in campaign.kept.values()}
    trials = campaign.trials
    healthy = {name: count for name, count in trials.items() if not any(f"'{one}'" in name for one in ("sinh", "erf"))}
    assert set(healthy.values()) == {4000}, campaign.output
    assert max(trials.values()) == 4000
    assert in_session(campaign.process.pid) == []


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
@pytest.mark.timeout(900)
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
def test_each_group_of_machines_runs_the_same_and_has_a_column_of_the_report(fuzz, cluster: RayCluster, tmp_path):
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

    # The same column in what a sweep and the books of gradients tell.
    swept = ("sweep", "-k", "relu/function/float32", "--no-explain", "--json", "map.json", "--each-group")
    assert re.search(r"^Group +A +B$", told_by(tmp_path, *swept, where=where, candidate="released"), re.MULTILINE)
    swept_map = json.loads((tmp_path / "map.json").read_text())
    assert [group["name"] for group in swept_map["groups"]] == [first, second]
    assert swept_map["groups"][0]["trials"] == swept_map["groups"][1]["trials"] > 0
    assert {one["operator"]: list(one["groups"]) for one in swept_map["findings"]}["relu"] == [first]

    books = ("gradients", SUITE, "--trials", 1, *three, "--each-group")
    told_of_books = told_by(tmp_path, *books, where=where, candidate="released")
    assert re.search(r"^trials +3 +3$", told_of_books, re.MULTILINE), told_of_books


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("ray://127.0.0.1:{closed}", "nobody answers there"),
        ("ray://nowhere", "expected ray://HOST:PORT, such as ray://10.0.0.1:10001"),
        ("slurm", "expected local, ray, ray://HOST:PORT or ray://auto"),
    ],
)
def test_a_wrong_address_is_told_in_one_sentence_and_soon(command, where, said):
    began = time.monotonic()
    ended = command("fuzz", SUITE, "--executor", where.format(closed=free_port()))
    assert time.monotonic() - began < 10
    assert ended.status in (2, 3)
    assert said in ended.errors
    assert len(ended.errors.splitlines()) == 1


def test_without_ray_it_is_told_what_to_install(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    ended = command("fuzz", SUITE, "--executor", "ray")
    assert ended.status == 2
    assert "install dual-autotest[ray]" in ended.errors
    assert len(ended.errors.splitlines()) == 1


def test_this_process_is_no_cluster(command):
    ended = command("fuzz", SUITE, "--executor", "ray", "--jobs", 0)
    assert ended.status == 2
    assert "expected 1 or more with --executor ray" in ended.errors


def told_by(folder: Path, *arguments: object, where: str, candidate: str = "mixed") -> str:
    """What a command says with its workers at `where`, in a session that has no process left afterwards."""
    command = [sys.executable, "-m", "autotest", *map(str, arguments), "--executor", where]
    environment = {**os.environ, "AUTOTEST_CANDIDATE": f"tests.support.deadly:{candidate}"}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    output = process.communicate()[0]
    assert process.returncode in (0, 1, 2), output
    assert in_session(process.pid) == []
    return output


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_sweep_on_ray_comes_to_what_one_here_comes_to(tmp_path, quick):
    asked = ("sweep", "-k", "relu/function/float32 or sinh/out=/float32", "--no-explain", "--json")
    maps = {}
    for where in ("local", "ray"):
        told_by(tmp_path, *asked, f"{where}.json", "--jobs", 2, where=where)
        maps[where] = json.loads((tmp_path / f"{where}.json").read_text())
    here, there = maps["local"], maps["ray"]
    assert [(cell["operator"], cell["status"]) for cell in there["cells"]] == [
        (cell["operator"], cell["status"]) for cell in here["cells"]
    ]
    assert {(one["operator"], one["check"]) for one in there["findings"]} == {
        (one["operator"], one["check"]) for one in here["findings"]
    }
    assert {"relu", "sinh"} <= {one["operator"] for one in there["findings"]}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_books_of_gradients_are_the_same_on_ray(tmp_path, quick):
    asked = ("gradients", SUITE, "--trials", 1, "-k", SIX, "--jobs", 2)
    here, there = (told_by(tmp_path, *asked, where=where) for where in ("local", "ray"))
    assert there == here
    assert "its process died (SIGSEGV)" in there
