"""Times and sizes on command lines and in the environment."""

from __future__ import annotations

import pytest

from autotest import UsageError
from autotest.base.options import from_environment
from autotest.base.units import duration, size
from autotest.campaigns import isolated_runner
from autotest.frameworks import registry
from autotest.trials.context import RunContext


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("1.5m", 90), ("10min", 600), ("2h", 7200)])
def test_times(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "count"), [("2097152", 2 << 20), ("2048k", 2 << 20), ("1.5M", 3 << 19), ("4G", 4 << 30), ("2GiB", 2 << 30)]
)
def test_sizes(text, count):
    assert size(text) == count


@pytest.mark.parametrize("text", ["", "soon", "0s", "-1s", "5 days", "1e3", "9" * 400])
def test_what_is_no_time_is_refused_with_an_example(text):
    with pytest.raises(UsageError, match="60s, 10m or 2h"):
        duration(text)


@pytest.mark.parametrize("text", ["", "all", "0", "-4G", "4X", "1", "500", "9" * 400, "9" * 305 + "T"])
def test_what_is_no_size_is_refused_with_an_example(text):
    with pytest.raises(UsageError, match="500M or 4G"):
        size(text)


def test_the_environment_says_what_a_worker_process_may_take(monkeypatch):
    given = from_environment({"AUTOTEST_DEADLINE": "2m", "AUTOTEST_MEMORY": "1G"})
    assert (given.deadline, given.memory) == (120.0, 1 << 30)
    made = []

    class Workers:
        def __init__(self, conditions, jobs, *, in_turn):
            assert (jobs, in_turn) == (1, True), "trials 0, 1, 2, ..., whatever one of them does"
            made.append(conditions)

        def prepare(self):
            pass

        def close(self):
            pass

    monkeypatch.setattr(isolated_runner, "Workers", Workers)
    isolated_runner.IsolatedRunner()._ready(RunContext(registry.pair("torch", "torch"), given))
    assert [(conditions.deadline, conditions.memory) for conditions in made] == [(120.0, 1 << 30)]
