"""The display of a failed autotest in pytest, without the frames of this library, which do not help the reader."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from types import CodeType, MappingProxyType, TracebackType
from typing import Any

import pytest

from autotest.base.errors import AdapterWrong, AutotestError, FrameworkMissing
from autotest.base.options import DEFAULT_PAIR
from autotest.pytest_plugin.examples import given_test
from autotest.report.colours import LineRole, pieces
from autotest.trials.body_errors import traceback_of_test
from generators import GeneratorError

#: Packages that a test calls and whose frames do not help the reader of its traceback.
FOREIGN = (*DEFAULT_PAIR, "numpy", "hypothesis", "pytest", "_pytest", "pluggy")


def show_briefly(report: pytest.TestReport, item: pytest.Item, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
    """Remove the frames of this library and of the frameworks from a failure, so that the test's own lines remain."""
    error, entries = excinfo.value, excinfo.traceback
    # Hypothesis' function for a test claims the place of the function that it calls, which is in this library.
    claimed = None if given_test(item) is None else item.function.__code__  # type: ignore[attr-defined]
    in_body = any(entry.frame.f_globals.get("__name__") == "autotest.trials.trial" for entry in entries)
    if isinstance(error, AutotestError) and (not in_body or isinstance(error, (AdapterWrong, FrameworkMissing))):
        _show_as_text(report, item, error)
    elif isinstance(error, (AutotestError, GeneratorError)) or getattr(error, "is_test_mistake", False):
        # These errors are about a line of the test. Any other error may be caused by this library, so its frames stay.
        own = _without(claimed, traceback_of_test(excinfo.tb, FOREIGN))
        if own is not None:
            report.longrepr = _shown(item, error, own)
        elif claimed is not None:  # a strategy is wrong, and no line of the test has run
            _show_as_text(report, item, error)
    elif claimed is not None and (rest := _without(claimed, excinfo.tb)) is not None:
        report.longrepr = _shown(item, error, rest)


def _without(code: CodeType | None, entry: TracebackType | None) -> TracebackType | None:
    """Return the traceback `entry` without the frames that run `code`."""
    kept = []
    while entry is not None:
        if entry.tb_frame.f_code is not code:
            kept.append(entry)
        entry = entry.tb_next
    rest = None
    for one in reversed(kept):
        rest = TracebackType(rest, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return rest


def _shown(item: pytest.Item, error: BaseException, traceback: TracebackType) -> Any:
    return item.repr_failure(pytest.ExceptionInfo.from_exc_info((type(error), error, traceback)))


def _show_as_text(report: pytest.TestReport, item: pytest.Item, error: BaseException) -> None:
    """Show an error that the loop of trials raised as its message alone."""
    try:
        # Not public, but the only form that the short summary, JUnit files and xdist all understand.
        from _pytest._code.code import ExceptionChainRepr, ReprFileLocation, ReprTracebackNative
    except ImportError:
        return
    crash = ReprFileLocation(*_place(item), f"{type(error).__name__}: {error}")
    text = "\n".join([str(error), *getattr(error, "__notes__", ())])  # Hypothesis adds the failing example as a note
    report.longrepr = ExceptionChainRepr([(ReprTracebackNative([f"{text}\n"]), crash, None)])


def _place(item: pytest.Item) -> tuple[str, int]:
    """Return the file and the line of a test. Hypothesis' function is where the function that it calls is: in here."""
    inner = given_test(item)
    if inner is None:
        path, line, _ = item.location
        return path, (line or 0) + 1
    code = inspect.unwrap(inner).__code__
    return os.path.relpath(code.co_filename, item.config.rootpath), code.co_firstlineno


#: The looks of the roles of a report's parts, as arguments of pytest's terminal writer.
_LOOKS: Mapping[LineRole, Mapping[str, bool]] = MappingProxyType(
    {
        "": {},
        "headline": {"bold": True, "red": True},
        "verdict": {"bold": True},
        "divergent": {"red": True},
        "expected": {"green": True},
        "actual": {"red": True},
    }
)


def colour(report: pytest.TestReport) -> None:
    """Show a failure that is shown as its message in colours, if the terminal has any.

    Called when the report is shown, not when it is made, because reports travel from workers of pytest-xdist as plain
    text.
    """
    try:
        from _pytest._code.code import ReprEntryNative
    except ImportError:
        return

    class Coloured(ReprEntryNative):
        def toterminal(self, tw: Any) -> None:
            for text, role in pieces("".join(self.lines)):
                tw.write(text, **_LOOKS[role])

    traceback: Any = getattr(report.longrepr, "reprtraceback", None)
    entries: Any = getattr(traceback, "reprentries", ())
    if len(entries) == 1 and type(entries[0]) is ReprEntryNative:
        traceback.reprentries = [Coloured(entries[0].lines)]
