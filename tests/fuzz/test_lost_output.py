"""A command whose output is closed, full or read by nobody says so, has its exit status, and keeps what it found."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autotest.storage.store import Store

#: Runs a command of the shell, in which ``autotest`` is the command; returns its exit status and its errors.
InShell = Callable[..., tuple[int, str]]

FULL = "autotest: the standard output cannot be written: No space left on device. What was found is stored"

SUITE = """
from autotest import autotest, random_tensor, torch


@autotest(n=5)
def test_relu():
    return torch.relu(random_tensor(2))
"""


@pytest.fixture
def in_shell(tmp_path: Path, importable_elsewhere: None) -> InShell:
    def run(line: str, folder: Path = tmp_path) -> tuple[int, str]:
        command = f"{shlex.quote(sys.executable)} -m autotest"
        around = {
            **os.environ,
            "AUTOTEST_CANDIDATE": "tests.support.deadly:mixed",
            "AUTOTEST_DIR": ".autotest",
            "PYTHONUNBUFFERED": "",
        }
        script = f'autotest() {{ {command} "$@"; }}; set -o pipefail; cd {shlex.quote(str(folder))}; {line}'
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        ended = subprocess.run(["bash", "-c", script], env=around, text=True, check=False, **pipes)
        return ended.returncode, ended.stderr

    return run


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("autotest list > /dev/full", 3, FULL),
        ("PYTHONUNBUFFERED=1 autotest list > /dev/full", 3, FULL),
        ("autotest --help > /dev/full", 3, FULL),
        ("autotest show nothing 2> /dev/full", 2, ""),
        ("autotest list | true", 3, ""),
        ("autotest list >&-", 0, ""),
        ("autotest list <&- >&- 2>&-", 0, ""),
        ("mkdir größe; cd größe; LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 autotest list", 0, ""),
    ],
)
def test_an_output_that_takes_nothing_is_one_sentence_or_none(
    in_shell: InShell, line: str, status: int, said: str
) -> None:
    ended, errors = in_shell(line)

    assert ended == status, errors
    assert errors.startswith(said)
    assert errors.count("\n") == bool(said), errors


@pytest.mark.parametrize(("redirected", "status"), [("| head -n 1", 3), (">&- 2>&- <&-", 1)])
def test_a_campaign_whose_output_is_gone_keeps_its_findings_and_writes_its_reports(
    in_shell: InShell, tmp_path: Path, redirected: str, status: int
) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)

    ended, errors = in_shell(f"autotest fuzz test_suite.py --trials 2 --jobs 0 --json found.json {redirected}")

    assert (ended, errors) == (status, "")
    assert [entry.key.split("-")[1] for entry in Store(tmp_path / ".autotest").list()] == ["relu"]
    assert '"relu' in (tmp_path / "found.json").read_text()


def test_a_folder_that_was_deleted_is_a_usage_error(in_shell: InShell, tmp_path: Path) -> None:
    ended, errors = in_shell("mkdir gone; cd gone; rmdir ../gone; autotest list")

    assert ended == 2
    assert errors.startswith("autotest: the working folder cannot be read: No such file or directory; change to the ")
    assert errors.count("\n") == 1
