"""Findings, ledgers and settings stay where they are when a test changes the working directory."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from autotest.campaigns import exploring
from autotest.processes.client import Server
from autotest.results.tasks import Conditions, Diagnose, Explore, Explored, FindingRecord, Where
from tests.plugin.conftest import PLUGIN
from tests.support.faults import wrong_relu

LEDGER = """
[[divergence]]
key = "relu"
test = "*"
symptom = "value"
reason = "planted"
"""
CASE = """
    import os
    import unittest
    from autotest import autotest, random_tensor, torch

    class TestRelu(unittest.TestCase):
        def setUp(self):
            os.chdir("..")

        @autotest(n=2)
        def test_it(self):
            return torch.relu(random_tensor(2))
"""
PYTEST = """
    import pytest
    from autotest import autotest, random_tensor, torch

    @pytest.fixture
    def elsewhere(tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)

    @autotest(n=2)
    def test_relu(elsewhere):
        return torch.relu(random_tensor(2))
"""


@pytest.fixture
def working(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTOTEST_DIR", "found")
    return tmp_path


def explored(known: str, *, diagnosed: bool = False) -> object:
    Path("test_chdir.py").write_text(textwrap.dedent(CASE))
    Path("ledger.toml").write_text(known)
    where = Where(Path("test_chdir.py"), "test_chdir.py::TestRelu.test_it", 0)
    task = Diagnose(where, 0, thorough=False) if diagnosed else Explore(where, range(3), seconds=60.0)
    return exploring.run_task(task, Conditions(Path("found")), None, Server())


def test_a_finding_of_a_task_is_stored_in_the_folder_of_the_campaign(working, against):
    against(wrong_relu())
    found = explored("", diagnosed=True)
    assert isinstance(found, FindingRecord)
    assert found.place == f"found/failures/{found.key}"
    assert (working / found.place).is_dir()


def test_the_ledger_beside_the_test_applies_to_a_task(working, against):
    against(wrong_relu())
    result = explored(LEDGER)
    assert isinstance(result, Explored)
    assert (result.expected, result.suspects) == ({"relu": 3}, [])


def test_pytest_stores_a_finding_in_the_folder_where_it_was_started(pytester, quick, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.faults:wrong_relu")
    monkeypatch.setenv("AUTOTEST_DIR", "found")
    pytester.makepyfile(test_chdir=textwrap.dedent(PYTEST))
    result = pytester.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(failed=1)
    (place,) = (pytester.path / "found" / "failures").iterdir()
    result.stdout.fnmatch_lines([f"*found/failures/{place.name}/repro.py*"])


def test_pytest_reads_a_ledger_from_the_folder_where_it_was_started(pytester, quick, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.faults:wrong_relu")
    monkeypatch.setenv("AUTOTEST_LEDGER", "known.toml")
    pytester.makefile(".toml", known=LEDGER)
    pytester.makepyfile(test_chdir=textwrap.dedent(PYTEST))
    pytester.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=1)
