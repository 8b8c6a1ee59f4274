"""Options from environment variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest import UsageError
from autotest.base.options import from_environment


def test_without_anything_the_same_trials_run_every_time():
    options = from_environment({})
    assert (options.seed, options.exploring, options.trial, options.n) == (0, False, None, None)
    assert options.directory == Path(".autotest")
    assert options.verify


def test_everything_can_be_asked_for():
    options = from_environment(
        {
            "AUTOTEST_SEED": "12",
            "AUTOTEST_TRIAL": "0",
            "AUTOTEST_N": "7",
            "AUTOTEST_DIR": "elsewhere",
            "AUTOTEST_VERIFY": "0",
            "AUTOTEST_SHRINK": "1.5",
        }
    )
    assert (options.seed, options.exploring, options.trial, options.n) == (12, True, 0, 7)
    assert (options.directory, options.verify, options.shrink) == (Path("elsewhere"), False, 1.5)


def test_a_random_seed_is_another_one_every_time_and_can_be_named():
    seeds = {from_environment({"AUTOTEST_SEED": "random"}).seed for _ in range(5)}
    assert len(seeds) > 1
    assert from_environment({"AUTOTEST_SEED": "random"}).exploring


def test_empty_means_unset():
    names = ("SEED", "TRIAL", "N", "DIR", "SHRINK")
    assert from_environment({f"AUTOTEST_{name}": "" for name in names}) == from_environment({})


def test_quick_runs_verify_only_if_asked_to():
    assert not from_environment({"AUTOTEST_QUICK": "1"}).verify
    assert from_environment({"AUTOTEST_QUICK": "1", "AUTOTEST_VERIFY": "1"}).verify


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("SEED", "soon", "a whole number, or random"),
        ("SEED", "-1", "a whole number, or random"),
        ("SEED", "1.5", "a whole number, or random"),
        ("TRIAL", "first", "the index of a trial, from 0"),
        ("TRIAL", "-1", "the index of a trial, from 0"),
        ("N", "0", "a number of trials, at least 1"),
        ("SHRINK", "-2", "a number of seconds, 0 or more"),
        ("SHRINK", "nan", "a number of seconds, 0 or more"),
        ("SHRINK", "inf", "a number of seconds, 0 or more"),
        ("SPECIAL_VALUES", "false", "1 or 0; in a project's table, true or false"),
        ("VERIFY", "no", "1 or 0; in a project's table, true or false"),
    ],
)
def test_a_bad_value_is_refused_by_name(name, value, allowed):
    with pytest.raises(UsageError, match=f"AUTOTEST_{name}='{value}': expected {allowed}"):
        from_environment({f"AUTOTEST_{name}": value})


def test_a_profile_says_how_many_trials_and_how_long_to_shrink():
    usual = from_environment({})
    assert (usual.trials(20), usual.shrink) == (20, 3.0)
    dev = from_environment({"AUTOTEST_PROFILE": "dev"})
    assert (dev.trials(20), dev.trials(1), dev.shrink) == (5, 1, 1.0)
    thorough = from_environment({"AUTOTEST_PROFILE": "thorough"})
    assert (thorough.trials(20), thorough.shrink) == (200, 120.0)
    assert [options.half_precision for options in (usual, dev, thorough)] == [False, False, True]


def test_what_is_said_by_itself_goes_before_the_profile():
    given = {"AUTOTEST_PROFILE": "thorough", "AUTOTEST_N": "3", "AUTOTEST_SHRINK": "0"}
    options = from_environment(given)
    assert (options.trials(20), options.shrink) == (3, 0.0)


def test_an_unknown_profile_is_refused_by_name():
    with pytest.raises(UsageError, match="AUTOTEST_PROFILE='fast': expected dev, ci, thorough"):
        from_environment({"AUTOTEST_PROFILE": "fast"})
