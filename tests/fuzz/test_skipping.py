"""A test that skips itself, by any means, is neither broken nor the death of a process."""

from __future__ import annotations

import json

import pytest

from autotest import cli
from autotest.base.errors import SkipsItself
from autotest.sources import collection

SUITE = """
import unittest

import pytest

from autotest import autotest, random_tensor, torch


@autotest(n=2)
def test_body():
    pytest.skip("no device")


@autotest(n=2)
def test_import():
    pytest.importorskip("no_such_module_anywhere")


@autotest(n=2)
def test_expected():
    pytest.xfail("known")


@pytest.fixture
def device():
    pytest.skip("no device")


@autotest(n=2)
def test_fixture(device):
    return torch.relu(random_tensor())


@autotest(n=2)
def test_body_with_a_fixture(tmp_path):
    pytest.skip("no device")


class TestUnit(unittest.TestCase):
    @autotest(n=2)
    def test_method(self):
        self.skipTest("no device")


class TestSetUp(unittest.TestCase):
    def setUp(self):
        self.skipTest("no device")

    @autotest(n=2)
    def test_set_up(self):
        return torch.relu(random_tensor())
"""
RUNS = """

@autotest(n=2)
def test_runs():
    return torch.relu(random_tensor())
"""
FAILS = """

@autotest(n=2)
def test_fails():
    pytest.fail("planted")
"""
SKIPPING = {
    "test_body": "no device",
    "test_import": "could not import 'no_such_module_anywhere'",
    "test_expected": "expected to fail: known",
    "test_fixture": "no device",
    "test_body_with_a_fixture": "no device",
    "TestUnit.test_method": "no device",
    "TestSetUp.test_set_up": "no device",
}


@pytest.fixture
def suite(tmp_path, monkeypatch, against):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.faults:none")
    return tmp_path / "test_skipping.py"


@pytest.mark.parametrize(("test", "why"), SKIPPING.items())
def test_the_reason_is_what_the_test_or_its_fixture_said(suite, test, why):
    suite.write_text(SUITE)
    with pytest.raises(SkipsItself, match=why):
        collection.find(suite, f"test_skipping.py::{test}").call()


def test_a_campaign_tells_what_skips_itself_and_found_nothing_wrong(suite, capsys):
    suite.write_text(SUITE + RUNS)
    reports = ["--json=told.json", "--junitxml=told.xml"]
    assert cli.main(["fuzz", str(suite), "--trials=2", "--jobs=0", "--seed=1", *reports]) == 0
    told = capsys.readouterr().out
    for test, why in SKIPPING.items():
        assert f"test_skipping.py::{test}: skipped: {why}" in told
    assert "2 trials of 1 test in" in told
    assert "broken" not in told
    assert "had no accepted trial" not in told
    left_out = json.loads((suite.parent / "told.json").read_text())["left_out"]
    assert {one["name"] for one in left_out} == {f"test_skipping.py::{test}" for test in SKIPPING}
    assert (suite.parent / "told.xml").read_text().count("<skipped ") == len(SKIPPING)


def test_a_body_that_fails_by_pytests_own_means_is_at_fault_and_ends_no_process(suite, capsys):
    suite.write_text(SUITE + RUNS + FAILS)
    assert cli.main(["fuzz", str(suite), "--trials=2", "--jobs=0", "--seed=1", "-k=fails or runs"]) == 2
    told = capsys.readouterr().out
    assert "1 test is broken:\n  test_skipping.py::test_fails" in told
    assert "Failed: planted" in told
    assert "2 trials of 2 tests in" in told or "2 trials of 1 test in" in told


def test_the_account_of_gradients_tells_what_skips_itself(suite, capsys):
    suite.write_text(SUITE + RUNS)
    assert cli.main(["gradients", str(suite), "--jobs=0"]) == 0
    assert "skipped: test_skipping.py::TestUnit.test_method: no device" in capsys.readouterr().out


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("jobs", [0, 1])
def test_the_account_of_gradients_tells_what_fails_by_pytests_own_means(suite, capsys, jobs):
    suite.write_text(SUITE + RUNS + FAILS)
    assert cli.main(["gradients", str(suite), f"--jobs={jobs}", "-k=fails or runs"]) == 2
    told = capsys.readouterr().out
    assert "test_skipping.py::test_fails: Failed: planted" in told
    assert "1 operator in 2 trials" in told


def test_under_pytest_in_a_worker_process_such_a_test_is_skipped(pytester, quick, run_module):
    pytester.makepyfile(test_skipping=SUITE + RUNS)
    options = ("--autotest-isolate", "--autotest-candidate=tests.support.faults:none", "-rs", "-p", "no:randomly")
    run = run_module("pytest", *options)
    run.assert_outcomes(passed=1, skipped=len(SKIPPING))
    run.stdout.fnmatch_lines(["SKIPPED * no device"])
