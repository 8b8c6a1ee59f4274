"""What the tests of the sweep share: the command as a function."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from autotest.cli import main


@dataclasses.dataclass
class Ended:
    """How one command line ended."""

    status: int
    output: str
    errors: str


@pytest.fixture
def sweep(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    quick: Path,
    importable_elsewhere: None,
) -> Callable[..., Ended]:
    """``sweep("-k", "relu", candidate=...)`` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, candidate: str = "torch") -> Ended:
        monkeypatch.setenv("AUTOTEST_CANDIDATE", candidate)
        capsys.readouterr()
        status = main(["sweep", *map(str, arguments)])
        printed = capsys.readouterr()
        return Ended(status, printed.out, printed.err)

    return run
