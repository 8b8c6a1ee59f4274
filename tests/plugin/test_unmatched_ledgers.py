"""Ledger entries for tests that were renamed or removed are told if everything that they may be about was collected."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import PLUGIN

TESTS = """
import pytest

def written():
    return torch.abs(random_tensor())

@autotest(n=1)
def test_abs():
    return written()

@pytest.mark.parametrize("name", ["sin", "cos"])
@autotest(n=1)
def test_named(name):
    return getattr(torch, name)(random_tensor())
"""
HERE = {
    "abs-1": "test_inner.py::test_abs",
    "any-1": "test_*.py::test_a*",
    "sin-1": "test_inner.py::test_named[name='sin']",
    "called-1": "test_inner.py::written",
    "broken-1": "test_broken.py::test_it",
}
GONE = {
    "renamed-1": "test_inner.py::test_absolute",
    "tan-1": "test_inner.py::test_named[name='tan']",
    "pattern-1": "test_inner.py::test_old*",
}
REMOVED = {"removed-1": "test_removed.py::test_it"}


def entries(tests):
    table = '[[divergence]]\nkey = "{}"\ntest = "{}"\nsymptom = "shape"\nreason = "planted"\nstrict = false\n'
    return "".join(table.format(key, test) for key, test in tests.items())


@pytest.fixture
def ledgers(pytester, suite):
    suite(TESTS)
    pytester.makepyfile(test_broken="import pytest\npytest.skip('not here', allow_module_level=True)")
    pytester.path.joinpath("ledger.toml").write_text(entries(HERE | GONE | REMOVED))
    other = 'candidate = "other"\n\n' + entries({"other-1": "test_inner.py::test_other"})
    pytester.path.joinpath("ledger-other.toml").write_text(other)


def told(result):
    lines = result.stdout.lines
    head = "entries for tests that do not exist; correct `test`, or remove the entry:"
    if head not in lines:
        return []
    return [line.strip() for line in lines[lines.index(head) + 1 :] if line.startswith("  ")]


def lines_of(tests):
    return [f"ledger.toml: {key}: {test}" for key, test in tests.items()]


def test_a_whole_run_tells_which_entries_are_about_no_test(ledgers, run):
    result = run()
    result.assert_outcomes(passed=3, skipped=1)
    assert told(result) == lines_of(GONE | REMOVED)


def test_a_run_of_one_file_tells_what_this_file_lacks(ledgers, run):
    assert told(run("test_inner.py")) == lines_of(GONE)


@pytest.mark.parametrize("selection", [["test_inner.py::test_abs"], ["-k", "abs"]])
def test_a_run_of_some_tests_tells_nothing(ledgers, run, selection):
    result = run(*selection)
    result.assert_outcomes(passed=1, deselected=2 if "-k" in selection else 0, skipped="-k" in selection)
    assert told(result) == []


def test_workers_of_xdist_tell_the_main_process(ledgers, run_forked):
    pytest.importorskip("xdist")
    result = run_forked(*PLUGIN, "-n", "2")
    result.assert_outcomes(passed=3, skipped=1)
    assert told(result) == lines_of(GONE | REMOVED)
