"""A campaign also runs programs in graph mode if the tests ask for it."""

from __future__ import annotations

import dataclasses
import json
import os
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from autotest.emission import Script
from autotest.frameworks import oneflow_graph
from tests.fuzz.conftest import entries
from tests.support.graph_torch import GraphTorch

SUITE = """
from autotest import autotest, random_tensor, torch

@autotest(n=5, check_graph=True)
def test_relu():
    return torch.relu(random_tensor(shape=(2, 3), low=1, high=2))

@autotest(n=5)
def test_eager_only():
    return torch.relu(random_tensor(shape=(2, 3), low=1, high=2))
"""


def broken() -> GraphTorch:
    return GraphTorch({"relu": lambda relu: lambda x: relu(x) + 1})


def test_a_graph_that_disagrees_is_found_kept_and_told_once(command, tmp_path):
    (tmp_path / "test_suite.py").write_text(SUITE, encoding="utf-8")
    options = ("--trials", 6, "--jobs", 0, "--seed", 1, "--json", "told.json")
    ended = command("fuzz", "test_suite.py", *options, candidate="tests.fuzz.test_graph_campaigns:broken")
    assert ended.status == 1
    assert "1. relu: graph (replay), seen 6x" in ended.output
    assert "test_suite.py::test_relu" in ended.output
    (found,) = json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))["findings"]
    assert found["symptom"] == "graph"


def test_a_right_graph_finds_nothing(command, tmp_path):
    (tmp_path / "test_suite.py").write_text(SUITE, encoding="utf-8")
    candidate = "tests.support.graph_torch:GraphTorch"
    assert command("fuzz", "test_suite.py", "--trials", 6, "--jobs", 0, "--seed", 1, candidate=candidate).status == 0


SHARED = """
import unittest
from autotest import autotest, random_tensor, torch

class TestShared(unittest.TestCase):
    def setUp(self):
        self.x = random_tensor(shape=(2, 3))

    @autotest(n=5, check_graph=True)
    def test_tensor(self):
        return self.x * random_tensor(shape=(2, 3))
"""


def test_what_trials_share_is_compared_in_graph_mode_before_the_next_trial_changes_it(command, tmp_path):
    (tmp_path / "test_suite.py").write_text(SHARED, encoding="utf-8")
    candidate = "tests.support.graph_torch:GraphTorch"
    ended = command("fuzz", "test_suite.py", "--trials", 6, "--jobs", 0, "--seed", 1, candidate=candidate)
    assert ended.status == 0, ended.output
    assert "Seen once, but not when" not in ended.output


OUTSIDE = """
from autotest import autotest, random_tensor, torch

@autotest(n=5, check_graph=True)
def test_no_grad():
    with torch.no_grad():
        return torch.relu(random_tensor(shape=(2, 3)))

@autotest(n=5, check_graph=True)
def test_relu():
    return torch.relu(random_tensor(shape=(2, 3)))

@autotest(n=5)
def test_eager_only():
    with torch.no_grad():
        return torch.relu(random_tensor(shape=(2, 3)))
"""


def test_a_test_of_which_nothing_could_run_in_graph_mode_is_told(command, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    (tmp_path / "test_suite.py").write_text(OUTSIDE, encoding="utf-8")
    options = ("--trials", 20, "--jobs", 0, "--seed", 1, "--json", "told.json", "--junitxml", "told.xml")
    ended = command("fuzz", "test_suite.py", *options, candidate="tests.support.graph_torch:GraphTorch")
    assert ended.status == 2
    said = "compared nothing, because graph cannot contain what the test does: context managers (20 trials)"
    assert "1 test compares nothing in graph mode:\n  test_suite.py::test_no_grad: check_graph=True" in ended.output
    assert said in ended.output
    assert "Nothing new found, but 1 test compares nothing in graph mode.\n" in ended.output
    assert "::warning title=Nothing in graph mode::test_suite.py::test_no_grad: check_graph=True" in ended.output
    told = json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))["tests"]
    left_out = {test["test"].rpartition("::")[2]: test["left_out_of_graph_mode"] for test in told}
    assert left_out == {"test_no_grad": {"context managers": 20}, "test_relu": {}, "test_eager_only": {}}
    assert 'message="the test compares nothing in graph mode"' in (tmp_path / "told.xml").read_text(encoding="utf-8")


def test_a_few_trials_of_which_nothing_could_run_in_graph_mode_say_nothing_of_a_test(command, tmp_path):
    (tmp_path / "test_suite.py").write_text(OUTSIDE, encoding="utf-8")
    candidate = "tests.support.graph_torch:GraphTorch"
    assert command("fuzz", "test_suite.py", "--trials", 6, "--jobs", 0, "--seed", 1, candidate=candidate).status == 0


SIZES = """
from autotest import autotest, random, random_tensor, torch

@autotest(n=5, check_graph=True)
def test_tanh():
    return torch.tanh(torch.exp(random_tensor(shape=(random(2, 6).to(int).value(), 3))))

@autotest(n=5)
def test_eager_only():
    return torch.tanh(random_tensor(shape=(5, 3)))
"""


class Graph:
    """The part of ``nn.Graph`` that a script uses. Five rows kill the process."""

    def __init__(self) -> None:
        self.config = SimpleNamespace(_train=lambda on: None)

    def __call__(self, *given: Any) -> Any:
        die_of_five_rows(given)
        return self.build(*given)  # type: ignore[attr-defined]


class DyingGraph(GraphTorch):
    """torch with a graph mode, in which five rows kill the process."""

    graph_mode = "nn.Graph"

    def __init__(self) -> None:
        super().__init__()
        self._origin = f"{__name__}:dying"

    def import_root(self) -> ModuleType:
        root: Any = super().import_root()
        root.replace("nn.ReLU", lambda same: same)  # so that attributes can be added that torch does not have
        root.nn.Graph = Graph
        return root  # type: ignore[no-any-return]

    def script(self) -> Script:
        return dataclasses.replace(
            super().script(), graph=oneflow_graph.SCRIPT.replace("oneflow.", "faulty."), mode=self.graph_mode
        )

    def run_in_graph(self, build, calls):
        for given in calls:
            die_of_five_rows([*given.inputs, *given.leaves])
        return super().run_in_graph(build, calls)


class UnwrittenGraph(DyingGraph):
    """A graph mode for which no script can be written."""

    graph_mode = "graph"

    def script(self) -> Script:
        return dataclasses.replace(super().script(), graph="", mode="")


def die_of_five_rows(tensors: Any) -> None:
    if any(tensor.shape[0] == 5 for tensor in tensors):
        os.abort()


def dying() -> DyingGraph:
    return DyingGraph()


def unwritten() -> UnwrittenGraph:
    return UnwrittenGraph()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("candidate", "mode", "state"),
    [
        ("dying", "nn.Graph", "verified in a fresh interpreter"),
        ("unwritten", "graph", "scripts for graph are not supported"),
    ],
)
def test_a_death_in_a_graph_is_found_in_the_trial_that_it_is_of(told_by, tmp_path, candidate, mode, state):
    (tmp_path / "test_sizes.py").write_text(SIZES, encoding="utf-8")
    command = ("autotest", "fuzz", "test_sizes.py", "--trials", 12, "--seed", 3, "--jobs", 1)
    run = told_by(*command, candidate=f"tests.fuzz.test_graph_campaigns:{candidate}")
    assert run.status == 1, run.output
    assert "but not when the same trial ran again" not in run.output
    ((operator, entry),) = entries(tmp_path).items()
    finding = entry.finding
    assert (operator, finding.first.symptom, finding.first.stage) == ("tanh", "crash", "replay")
    assert f"tanh: faulty dies in {mode}, not in eager mode (SIGABRT)" in finding.first.message
    assert finding.program is not None
    assert finding.program.arrays[0].data.shape[0] == 5, "what it dies of"
    if candidate == "dying":
        assert [call.target for call in finding.program.calls if call.kind == "function"] == ["tanh"], finding.shrinking
        assert finding.program.arrays[0].data.size < 15
    assert str(finding.verified) == state, run.output
