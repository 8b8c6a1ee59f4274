"""`autotest fuzz` against several candidates runs one campaign for each."""

from __future__ import annotations

import json
import os

import pytest

from autotest.campaigns.in_process import InProcess
from autotest.frameworks import chosen_names
from autotest.storage.store import Store
from tests.fuzz.conftest import SUITES

BOTH = "tests.support.faults:wrong_relu,tests.support.faults:renamed"


def test_each_has_a_campaign_of_its_own_a_report_and_a_line(command, tmp_path):
    ended = command(
        *("fuzz", SUITES / "twenty_six.py", "--jobs", 0, "--trials", 3, "-k", "'relu'", "--seed", 5),
        *("--json", "found.json"),
        candidate=BOTH,
    )
    assert ended.status == 1
    assert ended.output.splitlines()[-3:] == [
        "Candidates, base seed 5:",
        "  tests.support.faults:wrong_relu: 1 finding in 3 trials",
        "  tests.support.faults:renamed: 0 findings in 3 trials",
    ]
    kept = [
        json.loads((tmp_path / f"found-tests-support-faults-{name}.json").read_text())
        for name in ("wrong-relu", "renamed")
    ]
    assert [len(one["findings"]) for one in kept] == [1, 0]
    (entry,) = Store(tmp_path / ".autotest").list()
    assert entry.finding.sides == ("torch", "faulty")
    assert os.environ["AUTOTEST_CANDIDATE"] == BOTH


def test_an_interrupt_of_the_second_campaign_does_not_hide_what_the_first_found(command, monkeypatch):
    plain = InProcess.wait

    def wait(executor, seconds):
        if chosen_names()[1].endswith("renamed"):
            raise KeyboardInterrupt
        return plain(executor, seconds)

    monkeypatch.setattr(InProcess, "wait", wait)
    ended = command(
        "fuzz", SUITES / "twenty_six.py", "--jobs", 0, "--trials", 3, "-k", "'relu'", "--seed", 5, candidate=BOTH
    )
    assert ended.status == 1
    assert ended.output.splitlines()[-1] == "  tests.support.faults:renamed: 0 findings in 0 trials"


def test_the_option_goes_before_the_variable_and_lasts_as_long_as_the_command(command, tmp_path):
    ended = command(
        *("fuzz", SUITES / "twenty_six.py", "--jobs", 0, "--trials", 3, "-k", "'relu'", "--candidate", BOTH),
        candidate="torch",
    )
    assert ended.status == 1
    assert "tests.support.faults:wrong_relu: 1 finding in 3 trials" in ended.output
    assert os.environ["AUTOTEST_CANDIDATE"] == "torch"


@pytest.mark.parametrize("words", [("fuzz", SUITES), ("gradients", SUITES), ("sweep",), ("recover",)])
@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("padle", "no framework is named 'padle'. Did you mean 'paddle'?"),
        (" ,", "candidate ' ,': expected the name of a framework, or several names separated by commas"),
        ("torch,jax,torch", "candidate 'torch,jax,torch': torch is named twice; expected each framework once"),
    ],
)
def test_a_name_that_nobody_has_is_refused_before_anything_runs(command, words, asked, says):
    ended = command(*words, "--candidate", asked)
    assert ended.status == 2
    assert says in ended.errors
    assert not ended.output


def test_commands_for_one_candidate_say_which_take_several(command):
    ended = command("gradients", SUITES / "twenty_six.py", "--jobs", 0, "--candidate", BOTH)
    assert ended.status == 2
    assert "expected one candidate here; only pytest and autotest fuzz accept several" in ended.errors


def test_only_one_can_be_gone_on_with(command):
    ended = command("fuzz", SUITES / "twenty_six.py", "--resume", candidate=BOTH)
    assert ended.status == 2
    assert "--resume: expected one candidate" in ended.errors
