"""The traceback of a failed test under unittest has the lines of the body, and none of the library."""

from __future__ import annotations

import re
import traceback
import unittest

import pytest

from autotest import autotest, random, random_tensor, torch
from tests.support import faults


class Failing(unittest.TestCase):
    """Run by the tests below, and not collected."""

    __test__ = False

    @autotest(n=2)
    def diverges(self):
        return torch.relu(random_tensor())

    @autotest(n=2)
    def asserts(self):
        self.assertEqual(random_tensor(ndim=2).dim(), 77)  # noqa: PT009 - unittest style is what is tested

    @autotest(n=2)
    def looks_up(self):
        return random_tensor() * {}["scale"]

    @autotest(n=2)
    def skips(self):
        self.skipTest("not here")

    @autotest(n=2)
    def misspells(self):
        return torch.reluu(random_tensor())


def shown(name):
    result = unittest.TestResult()
    Failing(name).run(result)
    ((_, text),) = result.failures + result.errors
    return text


def test_a_divergence_is_its_report_alone(against):
    against(faults.wrong_relu())
    text = shown("diverges")
    assert text.startswith("autotest.results.divergence.Divergence: faulty diverges from torch: relu")
    assert 'File "' not in text


def test_an_assertion_of_the_body_shows_its_line_alone():
    text = shown("asserts")
    assert text.count('File "') == 1
    assert "self.assertEqual(random_tensor(ndim=2).dim(), 77)" in text


def test_a_mistake_of_the_body_begins_with_its_line():
    first = next(line for line in shown("misspells").splitlines() if 'File "' in line)
    assert __file__ in first


MISTAKES = (
    "torch.relu(random_tensor(ndim=2), inplce=True)",
    "random_tensor(ndim=2).reluu()",
    "torch.reluu(random_tensor(ndim=2))",
    "torch.relu(random_tensor(ndim=2, dim0=random(5, 2)))",
    'torch.relu(random_tensor(ndim=2, dim0="three"))',
    "torch.relu(random_tensor(ndim=2, dim0=random(1, 3).to(float)))",
)


def test_pytest_shows_the_lines_of_mistakes_and_nothing_of_this_library(tmp_path, monkeypatch, run_module):
    written = ["from autotest import autotest, random, random_tensor, torch"]
    for number, mistake in enumerate(MISTAKES):
        written += ["@autotest(n=2)", f"def test_{number}():", f"    return {mistake}"]
    (tmp_path / "test_mistakes.py").write_text("\n".join(written), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    done = run_module("pytest", "-q", "-p", "no:cacheprovider", "test_mistakes.py", AUTOTEST_CANDIDATE="torch")
    done.assert_outcomes(failed=len(MISTAKES))
    assert [mistake for mistake in MISTAKES if f"return {mistake}" not in done.stdout.str()] == []
    assert [line for line in done.outlines if re.search(r"\b(autotest|generators)/\w+\.py", line)] == []


@pytest.mark.parametrize("name", ["asserts", "looks_up", "misspells"])
def test_an_exception_of_the_body_names_the_trial_that_brings_it_back(name, monkeypatch):
    monkeypatch.setenv("AUTOTEST_SEED", "5")
    text = shown(name)
    assert text.count("raised by the test itself in trial 0 of base seed 5. Only this: ") == 1
    assert "AUTOTEST_SEED=5 AUTOTEST_TRIAL=0 and the test's own command" in text


def test_the_trial_that_is_named_is_the_one_that_failed():
    @autotest(n=20)
    def sometimes():
        x = random_tensor(ndim=1, dim0=random(1, 4).value())
        assert len(x) < 3
        return x + 1

    with pytest.raises(AssertionError) as raised:
        sometimes()
    told = "\n".join(traceback.format_exception(raised.type, raised.value, raised.tb))
    (number,) = re.findall(r"in trial (\d+) of", told)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOTEST_TRIAL", number)
        with pytest.raises(AssertionError):
            sometimes()
        patch.setenv("AUTOTEST_TRIAL", str(int(number) - 1))
        if number != "0":
            sometimes()


def test_a_skipped_test_says_why_and_nothing_else():
    result = unittest.TestResult()
    Failing("skips").run(result)
    assert [reason for _, reason in result.skipped] == ["not here"]
