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
from typing import TYPE_CHECKING, Any

from autotest.base.errors import UsageError
from autotest.sources.pytest_items import arguments_of, name_of
from autotest.sources.test_names import CollectedName

if TYPE_CHECKING:
    from autotest.sources.pytest_listener import ItemOutcome

#: pytest must not print, capture the output of a crashing framework, leave files, distribute tests, or use this plugin.
_OPTIONS = (
    *("-p", "no:terminal", "-p", "no:faulthandler", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:autotest"),
    # Their searches for lost exceptions take longer than all else, and workers call a test many times.
    *("-p", "no:unraisableexception", "-p", "no:threadexception"),
    *("-s", "--import-mode=importlib", "-o", "addopts="),
    # In a project where warnings are errors, one about plugins that are already imported would stop pytest, and one
    # that a test meets under a new seed would break the test.
    *("-W", "default", "-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
#: How many sessions `sessions_kept` keeps open.
_KEPT = 16


class PytestSession:
    """An open session of pytest, which calls single items, each as if it was the only one."""

    def __init__(self, file: Path) -> None:
        """Let pytest collect the tests of `file`. Raises `UsageError` if it is not installed or cannot collect them."""
        if importlib.util.find_spec("pytest") is None:
            raise UsageError("pytest, which does the set-up and the fixtures, is not installed")
        import pytest
        from _pytest.config import _prepareconfig  # pytest-xdist starts its workers with it, too

        from autotest.sources.pytest_listener import ItemListener

        self._plugin, self._place = ItemListener(), file.resolve()
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
        outcome = self._plugin.begin()
        sys.modules.update(self._modules)
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        finally:
            self._forget_modules()
        return outcome


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


__all__ = ["PytestSession", "session_of", "sessions_kept"]
