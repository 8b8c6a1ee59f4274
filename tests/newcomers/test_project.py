"""`[tool.autotest]` in pyproject.toml: the project's defaults, their precedence, and errors."""

from __future__ import annotations

import os
import re
import sys

import numpy as np
import pytest

from autotest import autotest, cli, random_tensor, torch
from autotest.base import project
from autotest.base.errors import UsageError
from autotest.base.options import from_environment, from_project
from autotest.base.settings import Settings
from autotest.results import ledger

HEAD = "from autotest import autotest, random_tensor, torch\n\n"
TEST = "@autotest(n=2)\ndef test_relu():\n    return torch.relu(random_tensor())\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    for name in ("SEED", "CANDIDATE", "N", "PROFILE", "DEADLINE", "MEMORY", "LEDGER", "QUICK"):
        monkeypatch.delenv(f"AUTOTEST_{name}", raising=False)
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> None:
        (tmp_path / "pyproject.toml").write_text(f"[tool.autotest]\n{text}\n")

    return write


def test_the_projects_table_is_what_holds_where_nothing_else_was_asked(write, tmp_path, monkeypatch):
    write('seed = 7\nn = 3\nprofile = "dev"\ndeadline = "2m"\nmemory = "1G"\nquick = true\ndir = "kept"')
    (tmp_path / "tests").mkdir()
    monkeypatch.chdir(tmp_path / "tests")
    found = from_environment()
    assert (found.seed, found.n, found.times, found.deadline, found.memory) == (7, 3, 0.25, 120.0, 1 << 30)
    assert (found.verify, found.shrink, found.directory) == (False, 0.0, tmp_path / "kept")
    monkeypatch.setenv("AUTOTEST_SEED", "9")
    assert from_environment().seed == 9


def test_an_empty_text_sets_nothing_as_in_a_variable(write):
    write('candidate = ""\ndir = ""\nledger = ""\nmemory = ""')
    found, default = from_environment(), from_environment({})
    assert (found.directory, found.ledger, found.memory) == (default.directory, None, default.memory)


def test_a_test_goes_before_what_its_project_says_and_not_before_the_same_of_the_process(write, monkeypatch):
    write("seed = 7")
    assert from_environment().of_test(Settings(seed=5)).seed == 5
    monkeypatch.setenv("AUTOTEST_SEED", "7")
    assert from_environment().of_test(Settings(seed=5)).seed == 7


@pytest.mark.parametrize(
    ("said", "in_project", "in_process", "drawn"),
    [
        ({"special_values": True}, "false", "", True),
        ({"special_values": False}, "true", "", False),
        ({}, "false", "", False),
        ({}, "true", "", True),
        ({"special_values": True}, "true", "0", False),
        ({"special_values": False}, "false", "1", True),
        ({}, "false", "1", True),
    ],
)
def test_special_values_are_drawn_as_the_process_says_or_else_the_test_or_else_the_project(
    write, monkeypatch, quick, said, in_project, in_process, drawn
):
    write(f"special_values = {in_project}")
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    monkeypatch.setenv("AUTOTEST_SPECIAL_VALUES", in_process)
    met = []

    @autotest(n=20, **said)
    def test_it():
        x = random_tensor(ndim=1, dim0=4, dtype="float32")
        met.append(bool(np.isfinite(x.reference.detach().numpy()).all()))
        return torch.neg(x)

    test_it()
    assert (not all(met)) == drawn


def test_a_value_that_makes_no_sense_is_told_by_its_key_and_file(write, tmp_path, capsys):
    write('seed = "soon"')
    with pytest.raises(
        UsageError, match=r"\[tool.autotest\] of .*pyproject.toml: seed='soon': expected a whole number"
    ):
        from_project(project.of_folder(str(tmp_path)))
    assert cli.main(["list"]) == 2
    assert "seed='soon': expected a whole number" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("seed = true", "seed='True': expected a whole number"),
        ('special_values = "no"', "special_values='no': expected 1 or 0; in a project's table, true or false"),
        ("quick = []", "quick='[]': expected 1 or 0"),
    ],
)
def test_a_value_of_another_type_is_told(write, tmp_path, table, message):
    write(table)
    with pytest.raises(UsageError, match=re.escape(message)):
        from_project(project.of_folder(str(tmp_path)))


def test_an_unknown_key_is_told_and_stops_nothing(write, capsys):
    write("candidates = 7\nlanguage = 7")
    assert cli.main(["list"]) == 0
    told = capsys.readouterr().err
    assert "Unknown config option in [tool.autotest]" in told
    assert "candidates. Did you mean 'candidate'? Expected one of candidate, " in told
    assert "language. Expected one of candidate, " in told


def test_a_ledger_of_the_project_holds_for_all_its_tests(write, tmp_path):
    write('ledger = "known/all.toml"')
    (tmp_path / "known").mkdir()
    entry = '[[divergence]]\nkey = "k"\ntest = "*"\nsymptom = "value"\nreason = "r"\n'
    (tmp_path / "known" / "all.toml").write_text(entry)
    found = ledger.find(tmp_path / "tests" / "test_it.py", common=from_environment().ledger)
    assert [item.key for item in found.entries] == ["k"]
    (tmp_path / "known" / "all.toml").unlink()
    with pytest.raises(UsageError, match=r"all.toml': expected a file, the ledger for all tests"):
        from_environment()


def test_from_another_folder_the_project_that_the_tests_lie_in_holds_and_its_adapter_is_found(
    write, tmp_path, monkeypatch, capsys
):
    write('candidate = "adapter_of_elsewhere:factory"')
    (tmp_path / "adapter_of_elsewhere.py").write_text("from tests.support.faults import wrong_relu as factory\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(HEAD + TEST)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "pyproject.toml").write_text('[tool.autotest]\ncandidate = "of another project"\n')
    monkeypatch.chdir(tmp_path / "other")
    monkeypatch.setattr("sys.path", [entry for entry in sys.path if entry])
    assert cli.main(["fuzz", "../tests", "--trials=2", "--jobs=0", "--seed=1"]) == 1
    assert capsys.readouterr().out.startswith("autotest fuzz: 1 test of faulty, 2 trials each, base seed 1\n")
    assert "AUTOTEST_PROJECT" not in os.environ


# -- under pytest -------------------------------------------------------------------------------------------------


def test_pytest_reads_the_project_under_its_root_and_its_options_go_before(pytester, quick, monkeypatch):
    pytester.makepyprojecttoml('[tool.autotest]\ncandidate = "tests.support.faults:none"\nseed = 7\nn = 3\n')
    pytester.makepyfile(test_it=HEAD + TEST)
    pytester.runpytest_inprocess().stdout.fnmatch_lines(
        ["autotest: 1 test of tests.support.faults:none against torch *, base seed 7", "1 test ran 3 trials: *"]
    )
    pytester.runpytest_inprocess("--autotest-seed=9", "--autotest-n=2").stdout.fnmatch_lines(
        ["autotest: 1 test of tests.support.faults:none against torch *, base seed 9", "1 test ran 2 trials: *"]
    )


def test_pytest_reads_the_project_that_the_variable_names_in_place_of_the_one_under_its_root(
    pytester, quick, monkeypatch
):
    pytester.makepyprojecttoml('[tool.autotest]\ncandidate = "torch"\nn = 3\n')
    pytester.makepyfile(test_it=HEAD + TEST)
    monkeypatch.setenv("AUTOTEST_PROJECT", "other.toml")
    pytester.path.joinpath("other.toml").write_text('[tool.autotest]\ncandidate = "tests.support.faults:none"\nn = 4\n')
    pytester.runpytest_inprocess().stdout.fnmatch_lines(
        ["autotest: 1 test of tests.support.faults:none against torch *", "1 test ran 4 trials: *"]
    )
    assert os.environ["AUTOTEST_PROJECT"] == "other.toml"


@pytest.mark.parametrize(("variable", "drawn"), [("", False), ("0", False), ("1", True)])
def test_the_environment_goes_before_pytests_ini_file_in_what_it_says_of_special_values(
    pytester, quick, monkeypatch, variable, drawn
):
    monkeypatch.setenv("AUTOTEST_SPECIAL_VALUES", variable)
    pytester.makeini("[pytest]\nautotest_special_values = false\n")
    pytester.makepyfile(
        "from autotest.base.options import from_environment\n\n\n"
        f"def test_it():\n    assert from_environment().special_values is {drawn}\n"
    )
    pytester.runpytest_inprocess().assert_outcomes(passed=1)


def test_a_named_project_that_does_not_exist_is_told_by_its_variable(pytester, quick, monkeypatch, capsys):
    monkeypatch.setenv("AUTOTEST_PROJECT", "nowhere.toml")
    pytester.makepyfile(test_it=HEAD + TEST)
    told = "AUTOTEST_PROJECT='nowhere.toml': there is no such file; expected the path of a pyproject.toml"
    result = pytester.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {told}*"])
    assert cli.main(["list"]) == 2
    assert told in capsys.readouterr().err


def test_pytest_warns_of_an_unknown_key_and_refuses_it_when_it_is_strict(pytester, quick, monkeypatch):
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    pytester.makepyprojecttoml("[tool.autotest]\nsede = 7\nseed = 0\n")
    pytester.makepyfile(test_it=HEAD + TEST)
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*PytestConfigWarning: Unknown config option in *tool.autotest* of *: sede. *"])
    strict = pytester.runpytest_inprocess("--strict-config")
    assert strict.ret == pytest.ExitCode.USAGE_ERROR


def test_pytest_refuses_a_table_that_is_none(pytester, quick):
    pytester.makepyprojecttoml("[tool]\nautotest = 3\n")
    result = pytester.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*[[]tool.autotest[]] is 3; expected a table*"])


def test_pytest_refuses_a_value_that_makes_no_sense(pytester, quick):
    pytester.makepyprojecttoml('[tool.autotest]\nmemory = "1"\n')
    pytester.makepyfile(test_it=HEAD + TEST)
    result = pytester.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*memory='1': that is 1 B, but a trial needs at least 1M; expected a size such as 500M or 4G*"]
    )


def test_a_quick_run_neither_shrinks_nor_verifies(pytester, quick, monkeypatch):
    for name in ("VERIFY", "SHRINK"):
        monkeypatch.delenv(f"AUTOTEST_{name}")
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.faults:wrong_relu")
    pytester.makepyfile(test_it=HEAD + TEST)
    result = pytester.runpytest_inprocess("--autotest-quick")
    result.stdout.fnmatch_lines(["Reproducer: *(not verified)"])
    result.stdout.no_fnmatch_line("Shrunk:*")


def test_a_size_without_its_unit_is_told_as_it_was_written(pytester, capsys):
    with pytest.raises(SystemExit):
        cli.main(["fuzz", "tests", "--memory", "1"])
    assert "'1': that is 1 B, but a trial needs at least 1M" in capsys.readouterr().err
