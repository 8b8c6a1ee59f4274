"""Tells which ledger entries are about no test any more, if pytest collected all tests that they may be about.

A stale entry is reported by the test that it is about. An entry for a test that was renamed or removed has none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autotest.pytest_plugin.examples import is_autotest

#: The key under which a worker of pytest-xdist gives its lines to the main process.
_LINES = "autotest_unmatched"


class UnmatchedLedgers:
    """A plugin that compares the ledgers with the tests that pytest collects."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._start = config.invocation_params.dir
        self._files: set[Path] = set()
        self._lines: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.passed and report.nodeid.endswith(".py"):
            self._files.add((self._config.rootpath / report.nodeid).resolve())

    @pytest.hookimpl(tryfirst=True)  # a test that is deselected later exists
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        selects = self._config.option.keyword or getattr(self._config.option, "lf", False)
        tests = [item for item in items if is_autotest(item)]
        if tests and not selects:
            self._lines = list(self._unmatched(tests))

    def _unmatched(self, items: list[pytest.Item]) -> Iterator[str]:
        """Yield a line for each entry that is about no test."""
        from autotest.base.errors import UsageError
        from autotest.pytest_plugin import called_items, header
        from autotest.results import ledger
        from autotest.results.unmatched_entries import unmatched_entries
        from autotest.sources.pytest_items import arguments_of

        files: dict[Path, list[str]] = {file: [] for file in self._files if self._is_collected(file)}
        if not any(path for file in files for path in ledger.files_for(file)):
            return
        named = called_items.names(items)
        for item in items:
            names = files.get(item.path.resolve())
            if names is not None:
                names.append(named[item.nodeid].within_file((), arguments_of(item)))
        candidates = header.candidates_of(item.function.__autotest__ for item in items)  # type: ignore[attr-defined]
        try:
            found = unmatched_entries(files, self._is_collected, candidates)
        except UsageError:
            return  # each test reports it
        for path, entry in found:
            yield f"{os.path.relpath(path, self._start)}: {entry.key}: {entry.test}"

    def _is_collected(self, place: Path) -> bool:
        """Whether everything in a file or folder was to be collected, and not single tests of it."""
        given = [(self._start / argument).resolve() for argument in self._config.args if "::" not in argument]
        return any(path == place or path in place.parents for path in given)

    def pytest_sessionfinish(self) -> None:
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[_LINES] = self._lines

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the lines of a worker of pytest-xdist: the main process collects nothing."""
        self._lines = self._lines or getattr(node, "workeroutput", {}).get(_LINES, [])

    @pytest.hookimpl(trylast=True)  # below the summary of the tests
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self._lines:
            return
        terminalreporter.section("autotest ledger")
        terminalreporter.write_line("entries for tests that do not exist; correct `test`, or remove the entry:")
        for line in self._lines:
            terminalreporter.write_line(f"  {line}")
