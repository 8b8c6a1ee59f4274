"""A plugin of pytest that records what happens when an item is called, as plain data.

It imports pytest, so only `pytest_session` imports it, when a session begins.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autotest.sources.outside_draws import drawing_of_fixture
from autotest.sources.pytest_marks import own_skip


@dataclasses.dataclass(slots=True)
class ItemOutcome:
    """What happened when pytest was to call an item."""

    called: bool = False
    raised: BaseException | None = None
    #: Why its fixtures could not be set up; empty if they could.
    no_set_up: str = ""
    #: Why the item or one of its fixtures skips it, and what pytest says of a skip; empty if it was not skipped.
    skips: str = ""
    skipped: str = ""


class ItemListener:
    """A plugin that records what happens to items."""

    def __init__(self) -> None:
        self.outcome = ItemOutcome()
        #: Why the file or a part of it was not collected.
        self.uncollected = ""
        #: The file that is collected, and the folders in which it lies.
        self._wanted: frozenset[Path] = frozenset()

    def begin_collecting(self, file: Path) -> None:
        """Prepare for the collection of `file`, an absolute path."""
        self.uncollected, self._wanted = "", frozenset((file, *file.parents))

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out what lies beside the file: pytest looks at all entries of the folders on the way to it."""
        return None if collection_path in self._wanted else True

    def begin(self) -> ItemOutcome:
        """Return a new outcome, which the hooks fill in while the next item runs."""
        self.outcome = ItemOutcome()
        return self.outcome

    @pytest.hookimpl(optionalhook=True)
    def pytest_timeout_set_timer(self) -> bool:
        """Keep pytest-timeout from ending a task, in which a test runs many trials: workers have their own deadline."""
        return True

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        """Let a fixture draw what it draws under pytest itself."""
        with drawing_of_fixture(fixturedef, request):
            yield

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.uncollected = _essence(str(report.longrepr))
        elif report.skipped:
            self.uncollected = f"skipped: {report.longrepr[-1] if isinstance(report.longrepr, tuple) else ''}"

    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        error = call.excinfo.value
        if report.when == "call":
            self.outcome.raised = error
        elif report.when == "setup":
            self.outcome.no_set_up = _essence(str(report.longrepr)) or f"{type(error).__name__}: {error}"

    def pytest_runtest_makereport(self, call: Any) -> None:
        if call.excinfo is not None and call.when != "teardown":
            self.outcome.skips = own_skip(call.excinfo.value) or self.outcome.skips

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.outcome.called = self.outcome.called or report.when == "call"
        if report.skipped:
            self.outcome.skipped = str(report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr)


def _essence(shown: str) -> str:
    """Return the line of a traceback, as pytest shows it, that says what went wrong."""
    said = shown.strip().splitlines()
    last = next((line for line in reversed(said) if line.startswith("E ")), said[-1] if said else "")
    return last.removeprefix("E ").strip()
