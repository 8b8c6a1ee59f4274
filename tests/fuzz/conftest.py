"""What the tests of campaigns share: a folder of small suites, and the command as a function."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from autotest import decorator
from autotest.cli import main

SUITES = Path(__file__).parent / "suites"


@dataclasses.dataclass
class Ended:
    """How one command line ended."""

    status: int
    output: str
    errors: str


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], quick: Path
) -> Callable[..., Ended]:
    """``command("fuzz", ..., candidate=...)`` in this process, in an empty folder, without verification."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTOTEST_DIR", ".autotest")

    def run(*arguments: object, candidate: str = "torch", directory: str = ".autotest") -> Ended:
        monkeypatch.setenv("AUTOTEST_CANDIDATE", candidate)
        monkeypatch.setenv("AUTOTEST_DIR", directory)
        decorator._ledger.cache_clear()  # each command is to stand for a process of its own
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        return Ended(status, shown.out, shown.err)

    return run
