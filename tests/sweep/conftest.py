"""Fixtures of the tests of the sweep: the command as a function, and a browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autotest.cli import main
from tests.support.running import Ended
from tests.support.shared_server import SharedServers


@pytest.fixture(scope="module")
def servers() -> Iterator[SharedServers]:
    """Return the servers that fork the workers of all commands of a module."""
    started = SharedServers()
    yield started
    started.ended()


@pytest.fixture
def sweep(
    servers: SharedServers,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    quick: Path,
    importable_elsewhere: None,
    warm: None,
) -> Callable[..., Ended]:
    """Return ``sweep("-k", "relu", candidate=...)``, which runs the command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("autotest.sweeping.engine.Server", servers)

    def run(*arguments: object, candidate: str = "torch") -> Ended:
        monkeypatch.setenv("AUTOTEST_CANDIDATE", candidate)
        capsys.readouterr()
        status = main(["sweep", *map(str, arguments)])
        printed = capsys.readouterr()
        return Ended(status, printed.out, printed.err)

    return run


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed (Debian's package chromium)")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()
