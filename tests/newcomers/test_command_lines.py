"""Mistakes of new users on a command line get an error that says what to write instead."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autotest.base import options
from autotest.cli import _COMMANDS, main


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["fuzz", "tests", "--jobs", "2", "--tiem", "5s"], "unrecognized arguments: --tiem 5s. Did you mean --time?"),
        (["gradients", "tests", "--fail-mising"], "--fail-mising. Did you mean --fail-missing?"),
        (["sweep", "relu"], "autotest sweep: error: unrecognized arguments: relu. Write -k relu to choose by name"),
        (["fuzz", "tests", "--no"], "autotest fuzz: error: unrecognized arguments: --no\n"),
        (["fuz", "tests"], "autotest: error: there is no command 'fuz'. Did you mean 'fuzz'?"),
        (
            ["run", "tests"],
            "there is no command 'run'. `pytest` runs tests, and `autotest fuzz` explores with new seeds. ",
        ),
        (["fuzz", "tests", "--time", "-5s"], "argument --time: expected one argument; a value that begins with - is "),
        (["fuzz", "tests", "--time=-5s"], "argument --time: '-5s': expected a time such as 60s"),
        (["test"], "there is no command 'test'. `pytest` runs tests, and `autotest fuzz` explores with new seeds. "),
        ([str(Path(__file__).parent)], "newcomers'. Write `autotest fuzz "),
        (["replay", "--quux"], "autotest replay: error: unrecognized arguments: --quux\n"),
    ],
)
def test_an_unknown_argument_is_told_by_its_command_with_the_nearest_one(
    capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    shown = " ".join(capsys.readouterr().err.split("error: ", 1)[1].split())
    assert " ".join(says.rpartition("error: ")[2].split()) in shown


def test_every_command_is_found_by_its_name_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    commands = re.findall(r"^    (\w+) ", capsys.readouterr().out, re.MULTILINE)
    assert "fuzz" in commands
    for command in commands:
        with pytest.raises(SystemExit, match="0"):
            main([command, "--help"])
        assert capsys.readouterr().out.startswith(f"usage: autotest {command} ")


@pytest.mark.parametrize("command", _COMMANDS)
def test_the_help_of_a_command_says_what_it_does(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    described = capsys.readouterr().out.split("\n\n")[1]
    assert re.match(r"[A-Z].*\.$", described, re.DOTALL), described


IMPORTED = """
import contextlib, sys
from autotest.cli import main
with contextlib.suppress(SystemExit):
    main([{0!r}, "--help"])
print(*sorted(name for name in sys.modules if name.startswith(("autotest.diagnosis", "autotest.cli.align", "torch"))))
"""


@pytest.mark.parametrize("command", ["fuzz", "init"])
def test_a_command_imports_neither_others_nor_what_only_its_workers_do(
    command: str, importable_elsewhere: None
) -> None:
    ran = subprocess.run([sys.executable, "-c", IMPORTED.format(command)], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], []])
def test_the_list_of_all_commands_imports_none_of_them(arguments: list[str], importable_elsewhere: None) -> None:
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "autotest", *arguments], capture_output=True, text=True, check=False
    )
    imported = set(re.findall(r"\| +([\w.]+)$", ran.stderr, re.MULTILINE))
    commands = {name for name in imported if name.startswith("autotest.cli.")}
    assert commands == {"autotest.cli.output", "autotest.cli.status"}
    assert not imported & {"numpy", "torch"}
    assert ("sweep  " in ran.stdout) == (arguments == ["--help"])


@pytest.mark.parametrize("command", ["fuzz", "gradients"])
def test_a_file_that_cannot_be_read_is_not_called_one_without_tests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "torch")
    (tmp_path / "test_unfinished.py").write_text("def test_a(:\n")
    assert main([command, str(tmp_path)]) == 2
    assert "test_unfinished.py: cannot be imported: SyntaxError: invalid syntax" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--json", "--junitxml", "--html"])
def test_a_report_that_cannot_be_written_is_told_before_anything_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    report = tmp_path / "none" / "report"
    assert main(["fuzz", str(tmp_path / "test_none.py"), option, str(report)]) == 2
    assert f"{report} cannot be written: the folder {report.parent} does not exist" in capsys.readouterr().err


def test_what_the_terminals_encoding_lacks_is_spelt_out(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("AUTOTEST_DIR", str(tmp_path / "größe"))
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    assert main(["list"]) == 0
    terminal.seek(0)
    assert r"gr\xf6\xdfe" in terminal.read()


def test_a_misspelt_variable_is_told_by_the_nearest_one(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setenv("AUTOTEST_QIUCK", "1")
    monkeypatch.setenv("AUTOTEST_SOMEBODY_ELSES", "1")
    assert main(["show", "no-such-key"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert "autotest: AUTOTEST_QIUCK is not a variable of autotest. Did you mean AUTOTEST_QUICK?" in told
    assert not any("SOMEBODY" in line for line in told)


def test_pytest_tells_of_variables_once_and_before_the_tests(pytester: pytest.Pytester, monkeypatch: Any) -> None:
    pytester.makepyfile("def test_one(): pass\ndef test_two(): pass")
    monkeypatch.setenv("AUTOTEST_QIUCK", "1")
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    done.assert_outcomes(passed=2, warnings=1)
    done.stdout.fnmatch_lines(["*AUTOTEST_QIUCK is not a variable of autotest. Did you mean AUTOTEST_QUICK[?]*"])
    monkeypatch.setenv("AUTOTEST_N", "0")
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    done.stderr.fnmatch_lines(["ERROR: AUTOTEST_N='0': expected a number of trials, at least 1"])
    assert done.ret == pytest.ExitCode.USAGE_ERROR


def test_every_variable_is_described() -> None:
    described = re.findall(r"^``(AUTOTEST_[A-Z_]+)``", options.__doc__ or "", re.MULTILINE)
    assert sorted(described) == sorted((*options.VARIABLES, "AUTOTEST_PROJECT"))
