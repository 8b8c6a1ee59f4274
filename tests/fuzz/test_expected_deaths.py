"""A test that the ledger expects to crash runs in another process, and passes as long as it crashes."""

from __future__ import annotations

import collections
import re
from pathlib import Path

import pytest

from autotest.campaigns import isolated_runner
from autotest.campaigns.deadly_calls import DeadlyCalls
from autotest.results import ledger
from autotest.results.progress import CampaignProgress
from autotest.sources.importing import load

SUITE = """
import unittest

from autotest import autotest, random, random_tensor, torch


class TestDie(unittest.TestCase):
    @autotest(n=5)
    def test_sinh(self):
        return torch.sinh(random_tensor(2) + 1)

    @autotest(n=5)
    def test_relu(self):
        return torch.relu(random_tensor(2))
"""
ENTRY = """
[[divergence]]
key = "known"
test = "test_die.py::TestDie.{test}"
symptom = "{symptom}"
reason = "planted"
"""


@pytest.fixture
def suite(tmp_path):
    """Writes the suite with a ledger beside it; returns the test file."""

    def write(test: str, symptom: str = "crash") -> Path:
        (tmp_path / "pyproject.toml").write_text("")
        (tmp_path / "test_die.py").write_text(SUITE)
        (tmp_path / "ledger.toml").write_text(ENTRY.format(test=test, symptom=symptom))
        return tmp_path / "test_die.py"

    return write


@pytest.mark.parametrize(
    ("symptom", "outside"), [("crash", True), ("hang", True), ("out of memory", True), ("value", False)]
)
def test_only_an_entry_about_a_death_keeps_a_test_out_of_this_process(symptom, outside, suite):
    known = ledger.find(suite("test_sinh", symptom))
    assert known.expects_death("test_die.py::TestDie.test_sinh", error_parity=False) is outside
    assert not known.expects_death("test_die.py::TestDie.test_relu", error_parity=True)


def test_a_test_that_is_known_to_kill_is_handed_over(suite, monkeypatch, against, quick):
    handed = []
    monkeypatch.setattr(isolated_runner, "shared", lambda pid: lambda test, context: handed.append(test.id))
    against()
    case = load(suite("test_sinh")).TestDie
    for name in ("test_sinh", "test_relu"):
        case(name).debug()
    assert handed == ["test_die.py::TestDie.test_sinh"]


def test_a_known_death_sets_aside_its_arguments_for_the_rest_of_the_test_and_the_operator_after_several():
    arguments = {}
    deaths = collections.Counter()
    ranks = [f"sinh(float32 {rank}-d)" for rank in range(5)]
    for rank, signature in enumerate(ranks):
        # Each round of a test in a worker process is a campaign of its own.
        calls = DeadlyCalls(CampaignProgress(0, [], deaths=deaths, fatal_arguments=arguments), allowed=1)
        assert calls.set_aside("test_it") == ({*ranks[:rank]} if rank < 4 else {*ranks[:rank], "sinh"})
        calls.killed("test_it", "sinh", signature)
    told_nothing = DeadlyCalls(CampaignProgress(0, []), allowed=1)
    told_nothing.killed("test_it", "sinh")
    assert told_nothing.set_aside("test_it") == {"sinh"}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("quick")
def test_a_test_that_is_known_to_kill_goes_on_with_what_does_not(suite, told_by):
    file = suite("test_rank")
    text = file.read_text().replace("test_sinh(self)", "test_rank(self)")
    file.write_text(text.replace("torch.sinh(random_tensor(2) + 1)", "torch.relu(random_tensor(random(1, 4), low=0))"))
    surroundings = {"candidate": "tests.support.deadly:flat", "AUTOTEST_VERIFY": "0", "AUTOTEST_SHRINK": "0"}
    done = told_by("pytest", "-k", "test_rank", file.name, **surroundings)
    assert done.status == 0, done.output
    accepted = int(re.search(r"(\d+) accepted", done.output)[1])
    assert accepted > 1, "after the first trial that dies, tensors of more dimensions are still tried"
    assert "1 x known" in done.output


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("runner", ["pytest", "unittest"])
def test_a_known_death_is_met_outside_and_one_that_stopped_is_stale(suite, told_by, runner):
    file = suite("test_sinh")
    met = told_by(runner, file.name)
    assert met.status == 0, met.output
    if runner == "pytest":
        assert "1 x known" in met.output
    stale = told_by(runner, file.name, candidate="torch")
    assert stale.status == 1
    assert "known" in stale.output
