"""Calls a test that needs pytest's fixtures in a process where pytest is not running."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autotest.base.errors import SkipsItself, UsageError
from autotest.sources.pytest_marks import own_skip, parametrized

#: pytest must not print, capture the output of a crashing framework, leave files, distribute tests, or use this plugin.
_OPTIONS = (
    *("-p", "no:terminal", "-p", "no:faulthandler", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:autotest"),
    *("-s", "--import-mode=importlib", "-o", "addopts="),
    # A warning about plugins that are already imported; if warnings are errors, it would stop pytest at start-up.
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)


def call_with_fixtures(file: Path, name: str, arguments: Mapping[str, Any]) -> None:
    """Let pytest set up the fixtures of the test `name` of `file`, and call it with them and `arguments`.

    An exception of the test is raised again.

    Raises:
        SkipsItself: The test or one of its fixtures skips the test.
        UsageError: pytest is not installed, does not call the test, or cannot set up its fixtures.
    """
    if importlib.util.find_spec("pytest") is None:
        raise UsageError(f"{name} needs fixtures, but pytest, which sets them up, is not installed")
    import pytest

    asked = _SingleTestPlugin(name, arguments)
    place = file.resolve()
    with contextlib.redirect_stderr(io.StringIO()) as said:
        status = pytest.main([*_OPTIONS, f"{place}::{name.replace('.', '::')}"], plugins=[asked])
    # In the next call, pytest would take a file of the same name for this one.
    for module in [key for key, value in sys.modules.items() if getattr(value, "__file__", None) == str(place)]:
        if module.startswith(place.stem) or module.endswith(f".{place.stem}"):
            del sys.modules[module]
    if asked.raised is not None:
        raise asked.raised
    if asked.skips:
        raise SkipsItself(asked.skips)
    if not asked.called:
        told = said.getvalue().strip().splitlines()
        raise UsageError(f"{file}: pytest does not call {name} ({asked.why or ' '.join(told[:2]) or status})")


class _SingleTestPlugin:
    """A plugin that lets one test run, and stores the exception it raises."""

    def __init__(self, name: str, arguments: Mapping[str, Any]) -> None:
        self._name, self._arguments = name, arguments
        self.called = False
        self.raised: BaseException | None = None
        #: Why the test was not called, and why it or one of its fixtures skips it.
        self.why = self.skips = ""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        # A parametrized fixture yields several items of one test: keep the first.
        items[:] = [item for item in items if self._fits(item)][:1]

    def _fits(self, item: Any) -> bool:
        given = getattr(getattr(item, "callspec", None), "params", {})
        return all(key in given and repr(given[key]) == repr(value) for key, value in self._arguments.items())

    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        if report.when == "call":
            self.raised = call.excinfo.value
        elif report.when == "setup":
            said = str(report.longrepr).strip().splitlines()
            last = next((line for line in reversed(said) if line.startswith("E ")), said[-1] if said else "")
            error = call.excinfo.value
            told = last.removeprefix("E ").strip() or f"{type(error).__name__}: {error}"
            self.raised = UsageError(f"{self._name}: its fixtures cannot be set up here: {told}")

    def pytest_runtest_makereport(self, call: Any) -> None:
        if call.excinfo is not None and call.when != "teardown":
            self.skips = own_skip(call.excinfo.value) or self.skips

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.called = self.called or report.when == "call"
        if report.skipped:
            self.why = f"skipped: {report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr}"


def direct_arguments(marks: Iterator[Any] | Sequence[Any]) -> set[str]:
    """Return the names that `parametrize` marks pass directly to a test, not to its fixtures."""
    names: set[str] = set()
    for mark in marks:
        own, fixtures, _ = parametrized(mark)
        names |= {name for name in own if name not in fixtures}
    return names


__all__ = ["call_with_fixtures", "direct_arguments"]
