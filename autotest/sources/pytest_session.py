"""A session of pytest with the tests of one file, in a process where pytest is not running otherwise."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import importlib.util
import io
import sys
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any

from autotest.base.errors import UsageError
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
#: How many sessions `sessions_kept` keeps open.
_KEPT = 16


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


class PytestSession:
    """An open session of pytest, which calls single items, each as if it was the only one."""

    def __init__(self, file: Path) -> None:
        """Let pytest collect the tests of `file`. Raises `UsageError` if it is not installed or cannot collect them."""
        if importlib.util.find_spec("pytest") is None:
            raise UsageError("pytest, which does the set-up and the fixtures, is not installed")
        import pytest
        from _pytest.config import _prepareconfig  # pytest-xdist starts its workers with it, too

        self._plugin, self._place = _Listener(), file.resolve()
        with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.ExitStack() as stack:
            try:
                config = _prepareconfig([*_OPTIONS, str(self._place)], [self._plugin])
                stack.callback(config._ensure_unconfigure)
                config._do_configure()
                session = pytest.Session.from_config(config)
                config.hook.pytest_sessionstart(session=session)
                stack.callback(config.hook.pytest_sessionfinish, session=session, exitstatus=0)
                config.hook.pytest_collection(session=session)
            except (Exception, SystemExit) as error:  # a conftest.py may raise anything
                told = said.getvalue().strip() or str(error) or type(error).__name__
                raise UsageError(f"pytest cannot collect {file}: {told.splitlines()[0]}") from error
            #: Ends the session.
            self.close = stack.pop_all().close
        self._modules = self._forget_modules()
        #: The items by their names in the file; there are several if arguments look the same.
        self.items: dict[str, list[pytest.Item]] = collections.defaultdict(list)
        for item in session.items:
            self.items[name_of(item).within_file((), arguments_of(item))].append(item)

    def _forget_modules(self) -> dict[str, ModuleType]:
        """Remove the test file from the imported modules: pytest would take a file of the same name for it."""
        stem = self._place.stem
        found = {
            name: module
            for name, module in list(sys.modules.items())
            if (name.startswith(stem) or name.endswith(f".{stem}")) and _file_of(module) == str(self._place)
        }
        for name in found:
            del sys.modules[name]
        return found

    def item(self, called: CollectedName, arguments: Mapping[str, Any]) -> Any:
        """Return the item of a test with these arguments. Raises `UsageError` if there is none."""
        same = self.items.get(dataclasses.replace(called, number=1).within_file((), arguments), [])
        if len(same) < called.number:
            why = f" ({self._plugin.uncollected})" if self._plugin.uncollected else ""
            raise UsageError(f"{called.file}: pytest does not call {called.name}{why}")
        return same[called.number - 1]

    def call(self, item: Any) -> ItemOutcome:
        """Set up all fixtures of `item`, call it, and tear all of them down."""
        outcome = self._plugin.outcome = ItemOutcome()
        sys.modules.update(self._modules)
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        finally:
            self._forget_modules()
        return outcome


class _Listener:
    """A plugin that records what happens to items."""

    def __init__(self) -> None:
        self.outcome = ItemOutcome()
        #: Why the file or a part of it was not collected.
        self.uncollected = ""

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


def _file_of(module: ModuleType) -> str | None:
    return getattr(module, "__file__", None)


_kept: ContextVar[dict[Path, PytestSession] | None] = ContextVar("autotest_pytest_sessions", default=None)


@contextlib.contextmanager
def sessions_kept() -> Iterator[None]:
    """Inside the block, keep the latest sessions open: to open one takes longer than a test."""
    kept: dict[Path, PytestSession] = {}
    token = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(token)
        for session in kept.values():
            session.close()


@contextlib.contextmanager
def session_of(file: Path) -> Iterator[PytestSession]:
    """Yield a session for `file`: one that is kept open, or one that is open inside the block only.

    A session in which an exception leaves the block, such as Ctrl-C in a test, is closed in any case.
    """
    kept, place = _kept.get(), file.resolve()
    session = (kept.pop(place, None) if kept is not None else None) or PytestSession(file)
    stays = False
    try:
        yield session
        stays = kept is not None
    finally:
        if not stays:
            session.close()
    if kept is not None:
        kept[place] = session
        if len(kept) > _KEPT:
            kept.pop(next(iter(kept))).close()


__all__ = ["ItemOutcome", "PytestSession", "session_of", "sessions_kept"]
