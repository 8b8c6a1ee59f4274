"""Isolated trials of a test are judged together, also for a tolerance that accepts zeros everywhere."""

from __future__ import annotations

from autotest.campaigns import isolated_runner
from autotest.campaigns.in_process import InProcess

SUITE = """
@autotest(atol=1e3)
def test_wide():
    return torch.tanh(random_tensor(shape=(2, 3), low=1, high=2))

@autotest(atol=1e-3)
def test_usual():
    return torch.tanh(random_tensor(shape=(2, 3), low=1, high=2))
"""


def test_isolated_trials_are_judged_together(suite, run, against, monkeypatch):
    against().names = ("torch", "torch")  # another process could create it by this name
    monkeypatch.setattr(isolated_runner, "Workers", lambda conditions, jobs, in_turn: InProcess(conditions))
    suite(SUITE)
    result = run("--autotest-isolate")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*test_wide*zeros would have passed as values in 20 trials, in each of 20 comparisons*"]
    )
