"""`autotest fuzz` from the command line to its exit status, in this process, on torch with torch or a faulty one."""

from __future__ import annotations

import contextlib
import errno
import importlib.metadata
import json
import os
import re
import signal
import sqlite3
import xml.etree.ElementTree as ET

import pytest

from autotest.base.errors import StoreUnwritable
from autotest.campaigns import exploring
from autotest.campaigns.campaign import Campaign
from autotest.campaigns.in_process import InProcess
from autotest.report import campaign
from autotest.sources.pytest_session import PytestSession
from tests.fuzz.conftest import SUITES

SUITE = SUITES / "twenty_six.py"
FAULTY = "tests.support.faults:wrong_relu"
SMALL = ("fuzz", SUITE, "--jobs", 0, "--trials", 20, "--seed", 3, "-k", "'relu' or 'exp'")


def test_nothing_new_is_status_0_and_says_how_much_was_tried(command):
    ended = command(*SMALL)
    assert ended.status == 0
    assert "40 trials of 2 tests" in ended.output
    assert "base seed 3" in ended.output
    assert "2 tests of torch (torch against itself checks only the tests), 20 trials each" in ended.output
    assert ended.output.endswith("Nothing new found.\n")


def test_a_finding_is_status_1_and_one_however_often_it_is_seen(command, tmp_path):
    ended = command(*SMALL, candidate=FAULTY)
    assert ended.status == 1
    assert "1. relu: value (forward), seen 20x" in ended.output
    assert "1 distinct finding" in ended.output
    (folder,) = (tmp_path / ".autotest" / "failures").iterdir()
    assert f"python .autotest/failures/{folder.name}/repro.py" in ended.output
    assert {path.name for path in folder.iterdir()} >= {"repro.py", "report.txt", "program.json", "failure.json"}


def test_an_interrupt_before_anything_is_found_is_status_3(command, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(InProcess, "wait", interrupt)
    ended = command(*SMALL)
    assert ended.status == 3
    assert ended.output.endswith("Nothing new found before it was interrupted.\n")


def test_a_second_signal_does_not_prevent_the_reports(command, tmp_path, monkeypatch):
    def interrupted(self):
        os.kill(os.getpid(), signal.SIGTERM)

    def summary(*_):
        os.kill(os.getpid(), signal.SIGTERM)
        return "the summary"

    monkeypatch.setattr(Campaign, "_next", interrupted)
    monkeypatch.setattr(campaign, "summary", summary)
    ended = command(*SMALL, "--json", "report.json")
    assert ended.status == 3
    assert ended.output.endswith("the summary\n")
    assert json.loads((tmp_path / "report.json").read_text())["findings"] == []


@pytest.mark.parametrize(
    ("number", "needs"),
    [
        (errno.EMFILE, "Too many open files: the run needs more open files (`ulimit -n`)"),
        (errno.EAGAIN, "Resource temporarily unavailable: the run needs more processes (`ulimit -u`"),
        (errno.ENOMEM, "Cannot allocate memory: the run needs more memory"),
    ],
)
def test_a_limit_of_the_system_is_one_sentence(command, monkeypatch, number, needs):
    def refused(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(InProcess, "wait", refused)
    ended = command(*SMALL)
    assert ended.status == 3
    assert ended.errors.startswith(f"autotest: {needs}")
    assert ended.errors.count("\n") == 1


def test_a_signal_while_tests_are_collected_is_an_interrupt(command, tmp_path):
    (tmp_path / "test_it.py").write_text("import os, signal\n\nos.kill(os.getpid(), signal.SIGTERM)\n")
    ended = command("fuzz", "test_it.py", "--trials", 5, "--jobs", 0)
    assert (ended.status, ended.errors) == (3, "autotest: interrupted\n")


def test_an_interrupt_after_a_finding_is_status_1(command, monkeypatch):
    plain = Campaign._record_finding

    def record(campaign, found):
        plain(campaign, found)
        raise KeyboardInterrupt

    monkeypatch.setattr(Campaign, "_record_finding", record)
    ended = command(*SMALL, candidate=FAULTY)
    assert ended.status == 1
    assert "(interrupted)" in ended.output


def test_a_failure_whose_diagnosis_fails_is_status_3_and_says_why(command, tmp_path, monkeypatch):
    def keep(*_):
        raise StoreUnwritable("no folder can be written")

    monkeypatch.setattr(exploring, "keep", keep)
    ended = command(*SMALL, "--json", "out.json", candidate=FAULTY)
    assert ended.status == 3
    assert "The sides differed, but the diagnosis failed:" in ended.output
    assert "StoreUnwritable: no folder can be written" in ended.output
    assert ended.output.endswith("Nothing new found, but the diagnosis of 1 failure failed.\n")
    (told,) = json.loads((tmp_path / "out.json").read_text())["undiagnosed"]
    assert (told["test"], told["base_seed"]) == ("twenty_six.py::test_operator[name='relu']", 3)


def test_the_same_seed_finds_the_same_and_another_seed_makes_other_trials(command, tmp_path):
    seeds = {}
    for place, seed in (("a", 3), ("b", 3), ("c", 4)):
        command(
            "fuzz", SUITE, "--jobs", 0, "--trials", 3, "--seed", seed, "-k", "'relu'", candidate=FAULTY, directory=place
        )
        (folder,) = (tmp_path / place / "failures").iterdir()
        seeds[place] = json.loads((folder / "failure.json").read_text())["seed"]
    assert seeds["a"] == seeds["b"] != seeds["c"]


def test_the_seed_of_the_environment_is_that_of_a_command_that_names_none(command, monkeypatch):
    monkeypatch.setenv("AUTOTEST_SEED", "6")
    few = ("fuzz", SUITE, "--jobs", 0, "--trials", 1, "-k", "'relu'")
    assert "base seed 6" in command(*few).output
    assert "base seed 7" in command(*few, "--seed", 7).output
    monkeypatch.setenv("AUTOTEST_SEED", "random")
    assert "base seed 6:" not in command(*few).output


def test_a_seed_of_the_environment_that_is_no_number_is_a_usage_error(command, monkeypatch):
    monkeypatch.setenv("AUTOTEST_SEED", "soon")
    ended = command("fuzz", SUITE, "--jobs", 0, "--trials", 1)
    assert ended.status == 2
    assert ended.errors.strip() == "autotest: AUTOTEST_SEED='soon': expected a whole number, or random"


def test_a_test_whose_backward_is_always_refused_compares_no_gradient_and_is_no_success(command, tmp_path):
    suite = tmp_path / "refused.py"
    suite.write_text(
        "from autotest import autotest, random_tensor, skip_grad_check, torch\n\n\n"
        "@autotest()\ndef test_refused():\n    return torch.exp(random_tensor(ndim=1)).add_(1)\n\n\n"
        "@skip_grad_check(reason='none')\n"
        "@autotest()\ndef test_skipped():\n    return torch.exp(random_tensor(ndim=1)).add_(1)\n\n\n"
        "@autotest()\ndef test_compares():\n    return torch.exp(random_tensor(ndim=1)).add(1)\n"
    )
    (tmp_path / "pyproject.toml").write_text("")
    ended = command("fuzz", suite, "--jobs", 0, "--trials", 40)
    assert ended.status == 2
    assert "1 test compares no gradients:\n  refused.py::test_refused: " in ended.output
    assert "the reference refused the backward of" in ended.output
    assert command("fuzz", suite, "--jobs", 0, "--trials", 3).status == 0, "too few trials to blame the test"


def test_a_time_is_kept_to(command, tmp_path):
    ended = command("fuzz", SUITE, "--jobs", 0, "--time", "2s", "--json", "out.json")
    assert ended.status == 0
    # Only that it ends is tested: how exactly it keeps its time depends on the machine.
    assert json.loads((tmp_path / "out.json").read_text())["seconds"] >= 2


def test_a_test_that_compares_no_gradient_is_named_and_no_success(command, tmp_path):
    suite = tmp_path / "forgetful.py"
    suite.write_text(
        "from autotest import autotest, random_tensor, torch\n\n\n"
        "@autotest(auto_backward=False)\ndef test_forgets():\n    return torch.exp(random_tensor(ndim=1))\n\n\n"
        "@autotest()\ndef test_compares():\n    return torch.exp(random_tensor(ndim=1))\n"
    )
    (tmp_path / "pyproject.toml").write_text("")
    ended = command("fuzz", suite, "--jobs", 0, "--trials", 3, "--junitxml", "out.xml", "--json", "out.json")
    assert ended.status == 2
    assert "1 test compares no gradients:\n  forgetful.py::test_forgets: " in ended.output
    assert "the results of exp depend on them, but no gradient was compared" in ended.output
    assert ended.output.endswith("Nothing new found, but 1 test compares no gradients.\n")
    assert ET.parse(tmp_path / "out.xml").getroot().find(".//error").get("message") == "the test compares no gradients"
    found = {
        test["test"]: test["forgotten_gradients"] for test in json.loads((tmp_path / "out.json").read_text())["tests"]
    }
    assert list(found["forgetful.py::test_forgets"].values()) == [3]
    assert found["forgetful.py::test_compares"] == {}
    resumed = command("fuzz", suite, "--jobs", 0, "--trials", 3, "--resume")
    assert resumed.status == 2


def test_a_trial_that_compares_nothing_is_a_mistake_of_its_test_and_no_success(command, tmp_path):
    suite = tmp_path / "idle.py"
    suite.write_text(
        "from autotest import autotest, random_tensor, torch\n\n\n"
        "@autotest()\ndef test_idles():\n    pass\n\n\n"
        "@autotest()\ndef test_compares():\n    return torch.exp(random_tensor(ndim=1))\n"
    )
    ended = command("fuzz", suite, "--jobs", 0, "--trials", 5, "--seed", 3)
    assert ended.status == 2
    assert "1 test is broken:\n  idle.py::test_idles\n" in ended.output
    assert "compared nothing, so it proves nothing" in ended.output
    assert "5 trials of 1 test" in ended.output


def test_what_the_ledger_expects_is_no_finding(command, tmp_path):
    suite = tmp_path / "suite.py"
    suite.write_text(SUITE.read_text())
    (tmp_path / "pyproject.toml").write_text("")
    found = command("fuzz", suite, "--jobs", 0, "--trials", 5, "-k", "'relu'", candidate=FAULTY)
    assert found.status == 1
    added = command("ledger", "add", "relu", "--reason", "planted", "--match", "not close")
    assert added.status == 0, added.errors
    ended = command("fuzz", suite, "--jobs", 0, "--trials", 5, "-k", "'relu'", candidate=FAULTY)
    assert ended.status == 0
    assert "5 of them diverged as the ledger expects" in ended.output


@pytest.mark.parametrize("content", [b"garbage [", b"\xff"])
def test_a_ledger_that_cannot_be_read_is_told_without_a_traceback(command, tmp_path, content):
    suite = tmp_path / "suite.py"
    suite.write_text(SUITE.read_text())
    (tmp_path / "ledger.toml").write_bytes(content)
    ended = command("fuzz", suite, "--jobs", 0, "--trials", 5, "-k", "'relu'")
    assert ended.status == 2
    assert "ledger.toml: not a ledger, because it is not " in ended.output
    assert "Traceback" not in ended.output


def test_a_body_that_is_itself_at_fault_is_status_2_and_does_not_hide_the_others(command, tmp_path):
    suite = tmp_path / "suite.py"
    suite.write_text(
        "from autotest import autotest, torch, random_tensor\n"
        "@autotest()\ndef test_wrong():\n    return undefined_name\n"
        "@autotest()\ndef test_right():\n    return torch.relu(random_tensor())\n"
    )
    ended = command("fuzz", suite, "--jobs", 0, "--trials", 5)
    assert ended.status == 2
    assert "name 'undefined_name' is not defined" in ended.output
    assert "5 trials of 1 test" in ended.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fuzz", "nowhere"], "no such file or folder"),
        (["fuzz", SUITE, "-k", "nothing_like_this"], "-k 'nothing_like_this' matches none of 26 tests"),
        (["fuzz", SUITE, "-k", "a and"], "expected a word"),
        (["fuzz", SUITE, "--resume"], "no campaign of shard 1/1"),
        (["show", "nothing"], "no failure 'nothing'"),
        (["replay"], "--all"),
    ],
)
def test_a_wrong_command_line_is_status_2_and_one_sentence(command, arguments, said):
    ended = command(*arguments)
    assert ended.status == 2
    assert said in ended.errors
    assert "Traceback" not in ended.errors


@pytest.mark.parametrize(
    "wrong", [["--time", "soon"], ["--trials", "0"], ["--shard", "3/2"], ["--seed", "x"], ["--memory", "?"]]
)
def test_a_wrong_option_is_refused_by_name(command, wrong, capsys):
    with pytest.raises(SystemExit) as ended:
        command("fuzz", SUITE, *wrong)
    assert ended.value.code == 2
    assert "expected" in capsys.readouterr().err


def test_a_missing_framework_is_one_sentence(command):
    ended = command("fuzz", SUITE, "--jobs", 0, candidate="nothing_of_this_name")
    assert ended.status == 2
    assert "no framework is named 'nothing_of_this_name'" in ended.errors


def numbers(directory):
    tests = "select test, sum(tried), sum(accepted), sum(rejected), sum(compared) from test group by test"
    seen = "select test, kind, name, sum(times) from seen group by test, kind, name order by test, kind, name"
    with contextlib.closing(sqlite3.connect(directory / "history.sqlite")) as base:
        counts, found = ([*base.execute(query)] for query in (tests, seen))
    return counts, found, {path.name for path in (directory / "failures").iterdir()}


def test_a_campaign_in_this_process_opens_one_session_of_pytest_for_all_its_trials(command, monkeypatch):
    opened, start = [], PytestSession.__init__
    monkeypatch.setattr(PytestSession, "__init__", lambda self, file: opened.append(file) or start(self, file))
    command("fuzz", SUITE, "--jobs", 0, "--trials", 3, "-k", "'relu'", candidate=FAULTY)
    assert len(opened) == 2, "and one to collect the tests"


def test_two_shards_merged_equal_one_run(command, tmp_path):
    whole = ("fuzz", SUITE, "--jobs", 0, "--trials", 9, "--seed", 9, "-k", "'relu' or 'exp' or 'softmax'")
    command(*whole, candidate=FAULTY, directory="one")
    command(*whole, "--shard", "1/2", candidate=FAULTY, directory="first")
    command(*whole, "--shard", "2/2", candidate=FAULTY, directory="second")
    assert numbers(tmp_path / "first") != numbers(tmp_path / "one")
    merged = command("merge", "first", "second", directory="both")
    assert merged.status == 0, merged.errors
    assert numbers(tmp_path / "both") == numbers(tmp_path / "one")


def test_a_campaign_is_resumed_with_its_seed_where_it_stopped(command, tmp_path):
    first = ("fuzz", SUITE, "--jobs", 0, "-k", "'relu' or 'exp'")
    command(*first, "--trials", 3, "--seed", 5, candidate=FAULTY)
    ended = command(*first, "--trials", 8, "--resume", candidate=FAULTY)
    assert "16 trials of 2 tests" in ended.output
    assert "base seed 5" in ended.output
    assert "seen 8x" in ended.output
    command(*first, "--trials", 8, "--seed", 5, candidate=FAULTY, directory="whole")
    assert numbers(tmp_path / ".autotest") == numbers(tmp_path / "whole")


def test_ci_gets_a_junit_file_json_and_what_github_shows(command, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    ended = command(*SMALL, "--junitxml", "out.xml", "--json", "out.json", candidate=FAULTY)
    suite = ET.parse(tmp_path / "out.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    (failed,) = [case for case in suite.iter("testcase") if case.find("failure") is not None]
    assert failed.get("name") == "test_operator[name='relu']"
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["sides"] == ["torch", "faulty"]
    assert document["versions"] == {"torch": importlib.metadata.version("torch")}
    (finding,) = document["findings"]
    assert (finding["operator"], finding["symptom"], finding["times"]) == ("relu", "value", 20)
    assert "::error file=" in ended.output
    assert "| `relu` | value (forward) | 20 |" in (tmp_path / "summary.md").read_text()


def test_a_test_that_the_reference_always_refuses_is_named_and_no_success(command, tmp_path):
    suite = tmp_path / "refused.py"
    suite.write_text(
        "from autotest import autotest, random_tensor, torch\n\n\n"
        "@autotest()\ndef test_never():\n"
        "    return torch.mm(random_tensor(ndim=2, dim1=3), random_tensor(ndim=2, dim0=4))\n"
    )
    few = command("fuzz", suite, "--jobs", 0, "--trials", 100, "--seed", 3)  # too few to exclude chance
    assert few.status == 0
    many = command("fuzz", suite, "--jobs", 0, "--trials", 400, "--seed", 3, "--junitxml", "out.xml")
    assert many.status == 2
    assert many.output.endswith("Nothing new found, but the reference refused every trial of 1 test.\n")
    assert [error.get("message") for error in ET.parse(tmp_path / "out.xml").iter("error")] == [
        "the reference refuses every trial"
    ]


def test_a_test_that_the_reference_accepts_only_without_gradients_is_named_and_no_success(command, tmp_path):
    suite = tmp_path / "leaf.py"
    suite.write_text(
        "from autotest import autotest, random_tensor, torch\n\n\n"
        "@autotest()\ndef test_leaf():\n    x = random_tensor(ndim=1)\n    x += 1\n    return x\n"
    )
    ended = command("fuzz", suite, "--jobs", 0, "--trials", 400, "--seed", 3, "--junitxml", "out.xml")
    assert ended.status == 2
    assert re.search(r"only where some inputs require no grad:\n +leaf.py::test_leaf: iadd: .* leaf Var", ended.output)
    assert [error.get("message") for error in ET.parse(tmp_path / "out.xml").iter("error")] == [
        "the reference refuses every trial in which all inputs require grad"
    ]


def test_a_test_of_another_candidate_is_not_run_against_this_one(command, tmp_path, monkeypatch):
    suite = tmp_path / "own.py"
    suite.write_text(
        "from autotest import autotest, random_tensor, torch\n\n\n"
        f"@autotest(candidate={FAULTY!r})\ndef test_own():\n    return torch.relu(random_tensor(ndim=1))\n\n\n"
        "@autotest()\ndef test_any():\n    return torch.relu(random_tensor(ndim=1))\n"
    )
    (tmp_path / "pyproject.toml").write_text('[tool.autotest]\ncandidate = "torch"\n')
    fuzz = ("fuzz", suite, "--jobs", 0, "--trials", 5, "--seed", 3)
    ended = command(*fuzz, candidate="")
    assert ended.status == 0
    assert (
        f"own.py::test_own: it is a test of {FAULTY}, its own candidate: --candidate {FAULTY} runs it" in ended.output
    )
    assert "5 trials of 1 test " in ended.output
    assert "own.py::test_own: it is a test of" in command("gradients", suite, "--jobs", 0, candidate="").output
    assert "5 trials of 1 test " not in command(*fuzz, "--candidate", FAULTY, candidate="").output


def test_a_test_whose_own_candidate_is_misspelt_is_broken_and_not_one_of_another_candidate(command, tmp_path):
    suite = tmp_path / "own.py"
    misspelt = (
        "from autotest import autotest, random_tensor, torch\n\n\n"
        '@autotest(candidate="oneflwo")\ndef test_own():\n    return torch.relu(random_tensor(ndim=1))\n'
    )
    right = "\n\n@autotest()\ndef test_any():\n    return torch.relu(random_tensor(ndim=1))\n"
    suite.write_text(misspelt + right)
    (tmp_path / "pyproject.toml").write_text('[tool.autotest]\ncandidate = "torch"\n')
    told = "no framework is named 'oneflwo'. Did you mean 'oneflow'?"
    fuzz = ("fuzz", suite, "--jobs", 0, "--trials", 5, "--seed", 3)
    ended = command(*fuzz, candidate="")
    assert ended.status == 2
    assert f"1 test is broken:\n  own.py::test_own\n      {told}" in ended.output
    assert "Not explorable" not in ended.output
    ended = command("gradients", suite, "--jobs", 0, candidate="")
    assert (ended.status, f"own.py::test_own: {told}" in ended.output) == (2, True)
    (tmp_path / "alone.py").write_text(misspelt)
    ended = command("fuzz", tmp_path / "alone.py", candidate="")
    assert (ended.status, f"alone.py::test_own: {told}" in ended.errors) == (2, True)


def test_an_unwritable_store_is_said_in_one_sentence(command, tmp_path):
    (tmp_path / "taken").write_text("")
    ended = command(*SMALL, directory="taken")
    assert ended.status != 0
    assert "cannot be written" in ended.errors
    assert "Traceback" not in ended.errors
