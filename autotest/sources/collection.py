"""Finds the decorated tests in files and folders."""

from __future__ import annotations

import collections
import dataclasses
import inspect
import itertools
import sys
import traceback
import unittest
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from autotest.base.errors import UsageError
from autotest.results.tasks import LeftOut
from autotest.sources.collected import ClassMember, Collected, runnable, settings_of
from autotest.sources.importing import load
from autotest.sources.pytest_marks import marks_of
from autotest.sources.pytest_session import sessions_kept
from autotest.sources.set_up import class_needs_pytest, has_unittest_set_up, module_needs_pytest
from autotest.sources.test_names import CollectedName, labels, leads_to
from autotest.sources.with_fixtures import WithFixtures, variants

_PATTERNS = ("test_*.py", "*_test.py")


@dataclasses.dataclass(slots=True)
class Collection:
    """The tests found below some paths, and the problems met."""

    tests: list[Collected] = dataclasses.field(default_factory=list)
    left_out: list[LeftOut] = dataclasses.field(default_factory=list)
    broken: list[LeftOut] = dataclasses.field(default_factory=list)
    #: Tests that cannot be run because of a mistake in their settings, and what it is.
    mistaken: list[tuple[Collected, str]] = dataclasses.field(default_factory=list)
    #: Messages about tests that would share an id with another test, and their new ids.
    renamed: list[str] = dataclasses.field(default_factory=list)


def collect(paths: Sequence[Path]) -> Collection:
    """Return the decorated tests below `paths`, without those that are marked as expected to fail.

    Args:
        paths: files, or folders that are searched for ``test_*.py`` and ``*_test.py``.

    Raises:
        UsageError: A path does not exist.
    """
    found = Collection()
    modules: dict[Path, ModuleType] = {}
    for file in dict.fromkeys(itertools.chain.from_iterable(_files(path) for path in paths)):
        module = _loaded(file, found)
        if module is not None:
            modules[file] = module
    with sessions_kept():
        items = [item for file, module in modules.items() for item in _with_variants(_in_module(module, file), file)]
    tests = [item for item in items if isinstance(item, Collected)]
    needed = labels((item.file, item.name) for item in tests)
    found.left_out += [item for item in items if isinstance(item, LeftOut)]
    for item in tests:
        if item.failing is not None:
            found.left_out.append(LeftOut(item.id, item.failing))
            continue
        label = needed.get((item.file, item.name))
        named = item if label is None else item.renamed(item.id.replace(item.file.name, label, 1), label=label)
        if named.id != item.id or (item.called is not None and item.called.number > 1):
            found.renamed.append(
                f"{item.file}: {item.name} is listed as {named.id}, because another test has the same name"
            )
        found.tests.append(named)
    return found


def _loaded(file: Path, found: Collection) -> ModuleType | None:
    """Import a test file and return its module; if that fails, record the reason in `found` and return None."""
    try:
        return load(file)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a file may raise SystemExit or unittest's SkipTest
        if type(error).__name__ in ("SkipTest", "Skipped"):
            found.left_out.append(LeftOut(file.name, f"skipped: {error}"))
        else:
            found.broken.append(LeftOut(str(file), f"cannot be imported: {_said(error, file)}"))
        return None


def _said(error: BaseException, file: Path) -> str:
    """Describe what is wrong with a file, and in which of its lines."""
    message = traceback.format_exception_only(type(error), error)[-1].strip()
    if isinstance(error, SyntaxError):
        return f"{message} ({error.filename}, line {error.lineno}: {(error.text or '').strip()})"
    inside = [step for step in traceback.extract_tb(error.__traceback__) if Path(step.filename) == file.resolve()]
    return f"{message} (line {inside[-1].lineno}: {inside[-1].line})" if inside else message


def find(file: Path, id: str) -> Collected:  # noqa: A002 - the test's id is called so everywhere
    """Return the test `id` of one file.

    Raises:
        UsageError: The file has no such test any more.
    """
    label, _, rest = id.partition("::")
    folders = label != file.name and file.as_posix().endswith(f"/{label}")
    wanted = f"{file.name}::{rest}" if folders else id
    items = {item.id: item for item in _in_module(load(file), file) if isinstance(item, Collected)}
    found, (plain, _, variant) = items.get(wanted), wanted.rpartition("#")
    if found is None and plain in items and isinstance(items[plain].body, WithFixtures):
        found = items[plain].renamed(wanted, variant=variant)
    if found is not None:
        return found.renamed(id, label=label) if folders else found
    raise UsageError(
        f"{file}: no decorated test {id!r}; it was renamed, removed, or needs fixtures; "
        f"`pytest --collect-only {file}` lists its tests"
    )


def files_below(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield the files below `folder` whose names match `pattern`, without those in hidden folders below it."""
    for file in folder.rglob(pattern):
        if not any(part.startswith(".") for part in file.relative_to(folder).parts):
            yield file


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(file for pattern in _PATTERNS for file in files_below(path, pattern))
    elif path.is_file():
        yield path
    else:
        file, _, test = str(path).partition("::")
        named = f"write {file!r} -k {test.rpartition('::')[2]}"
        said = named if test else "give test files, or folders that contain some"
        raise UsageError(f"{path}: no such file or folder; {said}")


def _in_module(module: ModuleType, file: Path) -> Iterator[Collected | LeftOut]:
    """Yield the tests of a module; a second test with the same id gets a numbered one."""
    seen: collections.Counter[str] = collections.Counter()
    for item in _listed(module, file):
        if isinstance(item, Collected):
            seen[item.id] += 1
            number = seen[item.id]
            yield item if number == 1 else item.renamed(f"{item.id}#{number}", number=number)
        else:
            yield item


def _with_variants(items: Iterable[Collected | LeftOut], file: Path) -> Iterator[Collected | LeftOut]:
    """Yield the tests of a file; those whose fixtures have parameters, once for each of these."""
    items = list(items)
    needed = any(isinstance(item, Collected) and isinstance(item.body, WithFixtures) for item in items)
    known = variants(file) if needed else {}
    for item in items:
        if not isinstance(item, Collected) or not isinstance(item.body, WithFixtures):
            yield item
            continue
        plain = dataclasses.replace(item.body.called, number=1).within_file((), item.body.arguments)
        if known and plain not in known:
            yield LeftOut(item.id, "pytest does not collect it, or a conftest.py deselects it")
            continue
        for variant in known.get(plain, [""]):
            yield item.renamed(f"{item.id}#{variant}", variant=variant) if variant else item


def _listed(module: ModuleType, file: Path) -> Iterator[Collected | LeftOut]:
    marks = marks_of(module)
    by_pytest = module_needs_pytest(module, file)
    plain = by_pytest or has_unittest_set_up(module)
    for name, value in vars(module).items():
        if inspect.isclass(value):
            if issubclass(value, unittest.TestCase):
                yield from _in_class(value, file, name, marks, by_pytest)
            elif name.startswith("Test"):
                yield from _in_class(value, file, name, marks, plain)
        elif settings_of(value) is not None and (value.__module__ == module.__name__ or _belongs_here(name, value)):
            # pytest does not call a function of another name.
            only_by_pytest = plain and name.startswith("test")
            yield from runnable(CollectedName(value, file, name), None, marks, only_by_pytest=only_by_pytest)


def _belongs_here(name: str, test: Any) -> bool:
    """Whether a test from another module is to be run here: only if no test file of its own runs it."""
    home = sys.modules.get(test.__module__)
    place = Path(getattr(home, "__file__", None) or "")
    runs_there = any(place.match(pattern) for pattern in _PATTERNS) and any(
        leads_to(value, test) for value in list(vars(home).values())
    )
    return name.startswith("test") and not runs_there


def _in_class(owner: type, file: Path, called: str, marks: list[Any], by_pytest: bool) -> Iterator[Collected | LeftOut]:
    marks = [*marks, *marks_of(owner)]
    by_pytest = by_pytest or class_needs_pytest(owner)
    plain = not issubclass(owner, unittest.TestCase)
    for name in dir(owner):
        function = inspect.getattr_static(owner, name)
        if isinstance(function, (staticmethod, classmethod)):
            function = function.__func__
        if plain and inspect.isclass(function) and name.startswith("Test"):
            yield from _in_class(function, file, f"{called}.{name}", marks, by_pytest)
        elif name.startswith("test") and settings_of(function) is not None:
            member = ClassMember(owner, name)
            yield from runnable(
                CollectedName(function, file, f"{called}.{name}"), member, marks, only_by_pytest=by_pytest
            )
