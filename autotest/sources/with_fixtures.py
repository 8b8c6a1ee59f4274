"""Calls a test that needs pytest's fixtures in a process where pytest is not running."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autotest.base.errors import SkipsItself, UsageError
from autotest.sources.pytest_items import arguments_of, name_of
from autotest.sources.pytest_marks import own_skip
from autotest.sources.test_names import CollectedName

#: pytest must not print, capture the output of a crashing framework, leave files, distribute tests, or use this plugin.
_OPTIONS = (
    *("-p", "no:terminal", "-p", "no:faulthandler", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:autotest"),
    # Their searches for lost exceptions take longer than all else, and workers call a test many times.
    *("-p", "no:unraisableexception", "-p", "no:threadexception"),
    *("-s", "--import-mode=importlib", "-o", "addopts="),
    # A warning about plugins that are already imported; if warnings are errors, it would stop pytest at start-up.
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)


@dataclasses.dataclass(frozen=True, slots=True)
class WithFixtures:
    """Calls a test with its fixtures and arguments; the body of a `Collected` that only pytest can set up."""

    called: CollectedName
    arguments: Mapping[str, Any]

    def __call__(self) -> None:
        """Let pytest set up and call the test. An exception of the test is raised again.

        Raises:
            SkipsItself: The test or one of its fixtures skips the test.
            UsageError: pytest is not installed, does not call the test, or cannot set up its fixtures.
        """
        file, name = self.called.file, self.called.name
        if importlib.util.find_spec("pytest") is None:
            raise UsageError(f"{name} needs fixtures or a set-up of pytest, which is not installed")
        asked = _SingleTest(self.called, self.called.within_file((), self.arguments))
        told = _run_pytest(file, f"::{name.replace('.', '::')}", asked)
        if asked.raised is not None:
            raise asked.raised
        if asked.skips:
            raise SkipsItself(asked.skips)
        if not asked.called:
            raise UsageError(f"{file}: pytest does not call {name} ({asked.why or told})")


def variants(file: Path) -> dict[str, list[str]]:
    """Return the variants of each test of `file` with which pytest calls it, by the test's name without a variant.

    A test has several if one of its fixtures has parameters, or if ``pytest_generate_tests`` parametrizes it. The dict
    is empty if pytest is not installed or cannot collect the file, which is told when the tests are called.
    """
    collected = _Variants()
    if importlib.util.find_spec("pytest") is not None:
        _run_pytest(file, "", collected)
    return collected.found


def _run_pytest(file: Path, selected: str, plugin: object) -> str:
    """Run pytest in this process, and return what it complains about, or its exit status."""
    import pytest

    place = file.resolve()
    with contextlib.redirect_stderr(io.StringIO()) as said:
        status = pytest.main([*_OPTIONS, f"{place}{selected}"], plugins=[plugin])
    # In the next call, pytest would take a file of the same name for this one.
    for module in [key for key, value in sys.modules.items() if getattr(value, "__file__", None) == str(place)]:
        if module.startswith(place.stem) or module.endswith(f".{place.stem}"):
            del sys.modules[module]
    return " ".join(said.getvalue().strip().splitlines()[:2]) or str(status)


class _Variants:
    """A plugin that records which tests there are, and lets none run."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        for item in items:
            called = name_of(item)
            plain = dataclasses.replace(called, variant="").within_file((), arguments_of(item))
            known = self.found.setdefault(plain, [])
            known += [called.variant] if called.variant not in known else []
        items.clear()


class _SingleTest:
    """A plugin that lets one test run, and stores the exception it raises."""

    def __init__(self, called: CollectedName, shown: str) -> None:
        """Run the test `called`, whose name within its file is `shown`."""
        self._wanted, self._name = called, called.name
        self._shown = shown
        self.called = False
        self.raised: BaseException | None = None
        #: Why the test was not called, and why it or one of its fixtures skips it.
        self.why = self.skips = ""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        number = self._wanted.number
        same = [item for item in items if self._shown_name(item) == self._shown]
        items[:] = same[number - 1 : number]

    def _shown_name(self, item: Any) -> str:
        """Return the name of an item as if it was the one that has the wanted number."""
        return dataclasses.replace(name_of(item), number=self._wanted.number).within_file((), arguments_of(item))

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        if isinstance(excinfo.value, KeyboardInterrupt):
            self.raised = excinfo.value

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


__all__ = ["WithFixtures", "variants"]
