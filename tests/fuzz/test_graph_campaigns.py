"""A campaign runs what tests ask for: their programs in graph mode too."""

from __future__ import annotations

import json

from tests.honesty.test_graph_faults import GraphTorch

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
    candidate = "tests.honesty.test_graph_faults:GraphTorch"
    assert command("fuzz", "test_suite.py", "--trials", 6, "--jobs", 0, "--seed", 1, candidate=candidate).status == 0
