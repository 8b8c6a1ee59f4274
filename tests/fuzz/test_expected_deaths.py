"""A test that the ledger expects to kill runs in another process, whoever calls it, and passes while it kills."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autotest.campaigns import isolated_runner
from autotest.results import ledger
from autotest.sources import collection

SUITE = """
import unittest

from autotest import autotest, random_tensor, torch


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
    assert known.expects_death("test_die.py::TestDie.test_sinh") is outside
    assert not known.expects_death("test_die.py::TestDie.test_relu")


def test_a_test_that_is_known_to_kill_is_handed_over(suite, monkeypatch, against, quick):
    handed = []
    monkeypatch.setattr(isolated_runner, "shared", lambda pid: lambda test, context: handed.append(test.id))
    against()
    case = collection.load(suite("test_sinh")).TestDie
    for name in ("test_sinh", "test_relu"):
        case(name).debug()
    assert handed == ["test_die.py::TestDie.test_sinh"]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("importable_elsewhere", "quick")
@pytest.mark.parametrize("runner", ["pytest", "unittest"])
def test_a_known_death_is_met_outside_and_one_that_stopped_is_stale(suite, monkeypatch, runner):
    def run(candidate):
        monkeypatch.setenv("AUTOTEST_CANDIDATE", candidate)
        command = [sys.executable, "-m", runner, "test_die.py"]
        return subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=False, timeout=200)

    file = suite("test_sinh")
    met = run("tests.support.deadly:six")
    assert met.returncode == 0, met.stdout + met.stderr
    if runner == "pytest":
        assert "1 x known" in met.stdout
    stale = run("torch")
    assert stale.returncode == 1
    assert "known" in stale.stdout + stale.stderr
