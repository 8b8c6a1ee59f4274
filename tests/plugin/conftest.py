"""Runs pytest inside of a test, with the plugin as it is installed.

`run` runs pytest in this process, which has imported the frameworks. Tests of imports and of dying workers need a
separate process, and are rare.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from pathlib import Path

import pytest

#: Whether the plugin is an entry point of the installed library. In a plain checkout it is named by hand.
INSTALLED = bool(importlib.metadata.entry_points(group="pytest11", name="autotest"))
PLUGIN = () if INSTALLED else ("-p", "autotest.pytest_plugin")

HEAD = "from autotest import autotest, constant, random, random_tensor, torch\n\n"

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def counting(quick: Path, against: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Count what is drawn, in tests of torch against torch."""
    against()
    monkeypatch.setenv("AUTOTEST_COVERAGE", "1")


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Callable[[str], Path]:
    """Return ``suite(text)``, which writes a test file into the folder of the inner run."""
    return lambda text: pytester.makepyfile(test_inner=HEAD + text)


@pytest.fixture
def run(pytester: pytest.Pytester, quick: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return ``run(*arguments)``, which runs pytest with the plugin; the candidate's relu is off by one."""
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.faults:wrong_relu")
    return lambda *arguments: pytester.runpytest_inprocess(*PLUGIN, *arguments)


@pytest.fixture
def run_outside(pytester: pytest.Pytester, run: Run, importable_elsewhere: None) -> Run:
    """Return the same function, which runs pytest in another process."""
    return lambda *arguments: pytester.runpytest_subprocess(*arguments, timeout=240)


@pytest.fixture
def run_forked(run: Run, run_module: Run) -> Run:
    """Return the same function, which runs pytest in a fork of a process with torch."""
    return lambda *arguments: run_module("pytest", *arguments)
