"""Sessions of pytest, which call single tests in a process where pytest is not running otherwise."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import importlib.util
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from autotest.base.errors import UsageError
from autotest.base.temporary_folders import temporary_folder
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
    # Else the folder of each `tmp_path` stays until the session ends, and a campaign calls its tests very often.
    *("-o", "tmp_path_retention_policy=failed"),
)
#: How many sessions `sessions_kept` keeps open.
_KEPT = 16


@dataclasses.dataclass(frozen=True, slots=True)
class CollectedFile:
    """The items of one test file."""

    file: Path
    #: The items by their names in the file; there are several if arguments look the same.
    items: Mapping[str, Sequence[Any]]
    #: Why the file, or a part of it, was not collected.
    uncollected: str
    #: The modules as which the file was imported, by name. They count as imported only while an item runs.
    modules: Mapping[str, ModuleType]

    def item(self, called: CollectedName, arguments: Mapping[str, Any]) -> Any:
        """Return the item of a test with these arguments. Raises `UsageError` if there is none."""
        same = self.items.get(dataclasses.replace(called, number=1).within_file((), arguments), [])
        if len(same) < called.number:
            why = f" ({self.uncollected})" if self.uncollected else ""
            raise UsageError(f"{called.file}: pytest does not call {called.name}{why}")
        return same[called.number - 1]


class PytestSession:
    """An open session of pytest, which calls single items of files in one folder, each as if it was the only one."""

    def __init__(self, file: Path) -> None:
        """Start pytest for `file` and others in its folder. Raises `UsageError` if it does not start."""
        if importlib.util.find_spec("pytest") is None:
            raise UsageError(
                f"{file}: expected pytest, which does the set-up and the fixtures, but it is not installed: run "
                "`pip install pytest`"
            )
        import pytest
        from _pytest.config import _prepareconfig  # pytest-xdist starts its workers with it, too

        from autotest.sources.pytest_listener import ItemListener

        self._plugin = ItemListener()
        self._files: dict[Path, CollectedFile] = {}
        with _errors_told(file), contextlib.ExitStack() as stack:
            # Not where pytest puts it: there a session removes what the user's earlier runs left to be looked at, and
            # searches the folders of all sessions of this process.
            folder = stack.enter_context(temporary_folder("autotest-pytest-"))
            options = (*_OPTIONS, "--basetemp", str(folder / "tests"))
            config = _prepareconfig([*options, str(file.resolve())], [self._plugin])
            stack.callback(config._ensure_unconfigure)
            config._do_configure()
            self._session = pytest.Session.from_config(config)
            config.hook.pytest_sessionstart(session=self._session)
            stack.callback(config.hook.pytest_sessionfinish, session=self._session, exitstatus=0)
            #: Ends the session.
            self.close = stack.pop_all().close

    def collected(self, file: Path) -> CollectedFile:
        """Return the items of a file in the folder of the session. Raises `UsageError` if it cannot be collected."""
        place = file.resolve()
        if place not in self._files:
            self._plugin.begin_collecting(place)
            items: dict[str, list[Any]] = collections.defaultdict(list)
            try:
                with _errors_told(file):
                    for item in self._session.perform_collect([str(place)]):
                        items[name_of(item).within_file((), arguments_of(item))].append(item)
            finally:
                modules = _forget_modules(place)
            self._files[place] = CollectedFile(place, items, self._plugin.uncollected, modules)
        return self._files[place]

    def call(self, collected: CollectedFile, item: Any) -> ItemOutcome:
        """Set up all fixtures of `item`, call it, and tear all of them down."""
        outcome = self._plugin.begin()
        sys.modules.update(collected.modules)
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        finally:
            _forget_modules(collected.file)
        return outcome


@contextlib.contextmanager
def _errors_told(file: Path) -> Iterator[None]:
    """Raise `UsageError` instead of any other error: the files of a project may raise anything."""
    with contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            yield
        except (Exception, SystemExit) as error:
            told = said.getvalue().strip() or str(error) or type(error).__name__
            said_first = told.splitlines()[0]
            raise UsageError(f"pytest cannot collect {file}: {said_first} (`pytest {file}` tells more)") from error


def _forget_modules(place: Path) -> dict[str, ModuleType]:
    """Remove a test file from the imported modules: pytest would take a file of the same name for it."""
    stem, file = place.stem, str(place)
    found = {
        name: module
        for name, module in list(sys.modules.items())
        if (name.startswith(stem) or name.endswith(f".{stem}")) and getattr(module, "__file__", None) == file
    }
    for name in found:
        del sys.modules[name]
    return found


_kept: ContextVar[dict[Path, PytestSession] | None] = ContextVar("autotest_pytest_sessions", default=None)


@contextlib.contextmanager
def sessions_kept() -> Iterator[None]:
    """Inside the block, keep the latest sessions open, by their folders: to open one takes longer than a test."""
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
    kept, folder = _kept.get(), file.resolve().parent
    session = (kept.pop(folder, None) if kept is not None else None) or PytestSession(file)
    stays = False
    try:
        yield session
        stays = kept is not None
    finally:
        if not stays:
            session.close()
    if kept is not None:
        kept[folder] = session
        if len(kept) > _KEPT:
            kept.pop(next(iter(kept))).close()
