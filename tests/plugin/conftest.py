"""Runs of pytest inside of a test, with the plugin as an installation has it.

`run` runs them in this process, where the frameworks are imported already; what must be seen from outside (imports,
workers that die) takes a process, and is kept rare.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from pathlib import Path

import pytest

#: As an entry point of the installed library, or by hand in a plain checkout.
INSTALLED = bool(importlib.metadata.entry_points(group="pytest11", name="autotest"))
PLUGIN = () if INSTALLED else ("-p", "autotest.pytest_plugin")

HEAD = "from autotest import autotest, constant, random, random_tensor, torch\n\n"

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Callable[[str], Path]:
    """``suite(text)``: a test file in the folder of the inner run."""
    return lambda text: pytester.makepyfile(test_inner=HEAD + text)


@pytest.fixture
def run(pytester: pytest.Pytester, quick: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """``run(*arguments)``: pytest with the plugin, relu of the candidate being off by one."""
    monkeypatch.setenv("AUTOTEST_CANDIDATE", "tests.support.faults:wrong_relu")
    return lambda *arguments: pytester.runpytest_inprocess(*PLUGIN, *arguments)


@pytest.fixture
def run_outside(pytester: pytest.Pytester, run: Run, importable_elsewhere: None) -> Run:
    """The same in a process of its own."""
    return lambda *arguments: pytester.runpytest_subprocess(*arguments, timeout=240)
