"""A campaign tells of a tolerance that accepts zeros everywhere, as a test in its own process does."""

from __future__ import annotations

SUITE = """
from autotest import autotest, random_tensor, torch

@autotest(atol=1e3)
def test_wide():
    return torch.tanh(random_tensor(shape=(2, 3), low=1, high=2))

@autotest(atol=1e-3)
def test_usual():
    return torch.tanh(random_tensor(shape=(2, 3), low=1, high=2))
"""
TOLD = "zeros would have passed as values in 20 trials, in each of 20 comparisons: the greatest expected number was 0.9"


def test_a_campaign_names_the_test_and_fails_as_for_a_mistake(command, tmp_path):
    (tmp_path / "test_suite.py").write_text(SUITE, encoding="utf-8")
    options = ("--trials", 20, "--jobs", 0, "--seed", 1, "--junitxml", "told.xml")
    ended = command("fuzz", "test_suite.py", *options, candidate="torch")
    assert ended.status == 2
    assert f"1 test accepts zeros for all numbers:\n  test_suite.py::test_wide: {TOLD}" in ended.output
    assert "Nothing new found, but 1 test accepts zeros for all numbers.\n" in ended.output
    assert 'message="the test accepts zeros for all numbers"' in (tmp_path / "told.xml").read_text(encoding="utf-8")


def test_a_campaign_of_few_trials_does_not_judge_a_tolerance(command, tmp_path):
    (tmp_path / "test_suite.py").write_text(SUITE, encoding="utf-8")
    options = ("--trials", 10, "--jobs", 0, "--seed", 1)
    assert command("fuzz", "test_suite.py", *options, candidate="torch").status == 0
