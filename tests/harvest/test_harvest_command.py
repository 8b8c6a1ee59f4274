"""`autotest harvest -- COMMAND` runs a program as usual, whatever happens to the harvest."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autotest.cli import main
from autotest.sources.calls_file import read

PROGRAM = """
import os, sys, torch
print(sys.argv[1:], __name__, os.path.basename(sys.path[0]), open("data.txt").read())
torch.sin(torch.ones(3))
{then}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, importable_elsewhere: None) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.txt").write_text("of a relative path")
    return tmp_path


def harvest(folder: Path, then: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(PROGRAM.format(then=then))
    return run("--", sys.executable, *(arguments or ("train.py",)))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autotest", "harvest", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def names(folder: Path) -> set[str]:
    return {call.name for call in read(folder / "calls.jsonl").calls}


def test_a_script_has_its_arguments_its_folder_and_its_output(folder: Path) -> None:
    ended = harvest(folder, "", "train.py", "--lr", "0.1", "-o", "x")
    assert ended.returncode == 0
    shown = folder.name
    assert ended.stdout == f"['--lr', '0.1', '-o', 'x'] __main__ {shown} of a relative path\n"
    assert "autotest: 2 distinct calls of 2 names in calls.jsonl" in ended.stderr
    assert "autotest sweep --calls calls.jsonl" in ended.stderr
    assert names(folder) == {"ones", "sin"}


@pytest.mark.slow
def test_a_module_is_run_by_its_name(folder: Path) -> None:
    (folder / "sitecustomize.py").write_text("import os; os.environ['MINE'] = 'ran'")
    ended = harvest(folder, "print(os.environ.get('MINE'))", "-m", "train")
    assert ended.returncode == 0
    assert names(folder) == {"ones", "sin"}


@pytest.mark.parametrize(
    ("then", "status", "said"),
    [
        ("raise ValueError('too bad')", 1, "ValueError: too bad"),
        pytest.param("sys.exit(7)", 7, "", marks=pytest.mark.slow),
        pytest.param("sys.exit('a message')", 1, "a message", marks=pytest.mark.slow),
        pytest.param("os._exit(5)", 5, "", marks=pytest.mark.slow),
        pytest.param("os.kill(os.getpid(), 9)", 137, "", marks=pytest.mark.slow),
    ],
)
def test_a_script_that_fails_has_its_own_end_and_leaves_what_was_recorded(
    folder: Path, then: str, status: int, said: str
) -> None:
    ended = harvest(folder, then)
    assert ended.returncode == status
    assert said in ended.stderr
    assert ("Traceback" in ended.stderr) == then.startswith("raise")
    assert "sitecustomize" not in ended.stderr.partition("autotest:")[0]
    assert "sin" in names(folder)


@pytest.mark.slow
def test_another_sitecustomize_is_run_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text("import os; os.environ['MINE'] = 'ran'")
    monkeypatch.setenv("PYTHONPATH", f"{os.environ['PYTHONPATH']}{os.pathsep}{folder / 'site'}")
    assert "ran" in harvest(folder, "print(os.environ['MINE'])").stdout


@pytest.mark.slow
def test_processes_and_threads_of_a_data_loader_write_into_the_same_file(folder: Path) -> None:
    then = """
class Data(torch.utils.data.Dataset):
    def __len__(self): return 4
    def __getitem__(self, i): return torch.cos(torch.full((3,), float(i)))
assert len(list(torch.utils.data.DataLoader(Data(), num_workers=2))) == 4
"""
    ended = harvest(folder, then)
    assert ended.returncode == 0, ended.stderr
    assert "cos" in names(folder)


@pytest.mark.slow
def test_ctrl_c_reaches_the_script_and_what_was_recorded_is_kept(folder: Path) -> None:
    (folder / "train.py").write_text(
        PROGRAM.format(then="import time\nopen('ready', 'w').close()\ntime.sleep(100)").lstrip()
    )
    command = [sys.executable, "-m", "autotest", "harvest", "--", sys.executable, "train.py"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        end = time.monotonic() + 100
        while not (folder / "ready").exists() and time.monotonic() < end:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert "2 distinct calls" in errors
    assert process.returncode == 130


def test_a_script_without_torch_says_that_nothing_was_recorded(folder: Path) -> None:
    (folder / "plain.py").write_text("print(1)")
    ended = run("--", sys.executable, "plain.py")
    assert (ended.returncode, ended.stdout) == (0, "1\n")
    assert "nothing was recorded" in ended.stderr
    assert "did not import torch" in ended.stderr


def test_a_command_that_records_nothing_leaves_no_new_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["harvest", "--", "true"]) == 0
    assert "nothing was recorded" in capsys.readouterr().err
    assert not [*folder.glob("calls*")]
    (folder / "mine.jsonl").touch()
    assert main(["harvest", "-o", "mine.jsonl", "--", "true"]) == 0
    assert (folder / "mine.jsonl").exists()


def test_what_an_earlier_run_recorded_stays_where_nothing_is_recorded(folder: Path) -> None:
    (folder / "plain.py").write_text("print(1)")
    (folder / "calls.jsonl").write_text("what was recorded")
    ended = run("--", sys.executable, "plain.py")
    assert "calls.jsonl still contains what an earlier run recorded" in ended.stderr
    assert (folder / "calls.jsonl").read_text() == "what was recorded"
    assert [path.name for path in folder.glob("calls*")] == ["calls.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Write it after two dashes: autotest harvest -- python train.py"),
        (["--", "no_such_command"], "no_such_command: command not found"),
        (["-o", "nowhere/calls.jsonl", "--", "true"], "nowhere/calls.jsonl cannot be written"),
    ],
)
def test_what_makes_no_sense_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["harvest", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_command_that_there_is_not_leaves_an_earlier_harvest_alone(folder: Path) -> None:
    (folder / "calls.jsonl").write_text("earlier")
    assert main(["harvest", "--", "no_such_command"]) == 2
    assert (folder / "calls.jsonl").read_text() == "earlier"
