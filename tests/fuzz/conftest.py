"""Fixtures of the tests of campaigns: a folder of small test suites, and the command line as a function."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autotest import decorator
from autotest.cli import main
from autotest.storage.store import Store, Stored
from tests.support.running import Ended
from tests.support.warm import WarmProcess

SUITES = Path(__file__).parent / "suites"


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], quick: Path
) -> Callable[..., Ended]:
    """Return ``command("fuzz", ..., candidate=...)``, which runs in this process and an empty folder, unverified."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTOTEST_DIR", ".autotest")

    def run(*arguments: object, candidate: str = "torch", directory: str = ".autotest") -> Ended:
        monkeypatch.setenv("AUTOTEST_CANDIDATE", candidate)
        monkeypatch.setenv("AUTOTEST_DIR", directory)
        decorator._ledger.cache_clear()  # as a new process would
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        return Ended(status, shown.out, shown.err)

    return run


@pytest.fixture
def shell(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, importable_elsewhere: None
) -> Callable[..., subprocess.Popen[str]]:
    """Return a function that starts commands in an empty folder, for a candidate with operators that kill."""
    without_settings(monkeypatch)

    def start(
        *arguments: object, candidate: str = "tests.support.deadly:six", **environment: str
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "AUTOTEST_CANDIDATE": candidate, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=_heed_signals,  # noqa: PLW1509 - two system calls, for which no thread holds a lock
        )

    return start


def _heed_signals() -> None:
    """Let the signals that end a command have their usual effect: these tests may run under ``nohup`` or in a job."""
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def told_by(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, importable_elsewhere: None, warm_process: WarmProcess
) -> Callable[..., Ended]:
    """Return a function that runs commands as `shell` does, in forks of a process with torch, and waits for them."""
    without_settings(monkeypatch)

    def run(*arguments: object, candidate: str = "tests.support.deadly:six", **environment: str) -> Ended:
        around = {"AUTOTEST_CANDIDATE": candidate, **environment}
        ended = warm_process.result([*map(str, arguments)], tmp_path, around)
        return Ended(int(ended.ret), ended.stdout.str(), "")

    return run


def without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the settings of the outer run from the environment of the commands that a test starts."""
    for name in ("SEED", "TRIAL", "N", "REFERENCE", "SHRINK", "VERIFY", "DIR"):
        monkeypatch.delenv(f"AUTOTEST_{name}", raising=False)


def entries(folder: Path) -> dict[str, Stored]:
    """Return the findings that are stored below `folder`, by operator."""
    found = Store(folder / ".autotest").list()
    assert all(isinstance(entry, Stored) for entry in found), found
    return {entry.finding.operator: entry for entry in found if isinstance(entry, Stored)}
