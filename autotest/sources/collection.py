"""Finds the decorated tests in files and folders."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import inspect
import itertools
import sys
import traceback
import unittest
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from autotest.base import options
from autotest.base.errors import UsageError
from autotest.base.settings import Settings
from autotest.results.tasks import LeftOut
from autotest.sources.identity import test_id

_PATTERNS = ("test_*.py", "*_test.py")


@dataclasses.dataclass(frozen=True, slots=True)
class Collected:
    """A decorated test with its arguments; `call` runs it with everything that stands around it."""

    id: str
    file: Path
    settings: Settings
    call: Callable[[], None] = dataclasses.field(repr=False, compare=False)


@dataclasses.dataclass(slots=True)
class Collection:
    """What was found below some paths."""

    tests: list[Collected] = dataclasses.field(default_factory=list)
    left_out: list[LeftOut] = dataclasses.field(default_factory=list)
    broken: list[LeftOut] = dataclasses.field(default_factory=list)


def collect(paths: Sequence[Path]) -> Collection:
    """The decorated tests below `paths`: files, or folders that are searched for ``test_*.py`` and ``*_test.py``.

    Raises `UsageError` for a path that does not exist.
    """
    found = Collection()
    for file in dict.fromkeys(itertools.chain.from_iterable(_files(path) for path in paths)):
        try:
            module = load(file)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a file may raise SystemExit or unittest's SkipTest
            if type(error).__name__ in ("SkipTest", "Skipped"):
                found.left_out.append(LeftOut(file.name, f"skips itself: {error}"))
            else:
                last = traceback.format_exception_only(type(error), error)[-1].strip()
                found.broken.append(LeftOut(str(file), f"cannot be imported: {last}"))
            continue
        for item in _in_module(module, file):
            (found.tests if isinstance(item, Collected) else found.left_out).append(item)  # type: ignore[arg-type]
    return found


def find(file: Path, id: str) -> Collected:  # noqa: A002 - the test's id is what it is called everywhere
    """The test `id` of one file; raises `UsageError` when it is not there any more."""
    for item in _in_module(load(file), file):
        if isinstance(item, Collected) and item.id == id:
            return item
    raise UsageError(f"{file}: there is no decorated test {id!r}; it was renamed, removed, or needs fixtures")


def load(file: Path) -> ModuleType:
    """The module of a test file, imported once a process, with its folder importable as a script's is.

    After the modules that ``AUTOTEST_IMPORT`` names; raises `UsageError` when one of these cannot be imported.
    """
    file = file.resolve()
    digest = hashlib.sha256(str(file.parent).encode()).hexdigest()[:8]
    name = f"autotest_collected_{digest}_{file.stem}"
    known = sys.modules.get(name)
    if known is not None:
        return known
    for wanted in options.imports():
        _import(wanted)
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{file}: expected a Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _import(wanted: str) -> None:
    try:
        importlib.import_module(wanted)
    except ImportError as error:
        raise UsageError(f"AUTOTEST_IMPORT={wanted}: expected a module that can be imported ({error})") from error


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        hidden = (file for pattern in _PATTERNS for file in path.rglob(pattern))
        yield from sorted(file for file in hidden if not any(part.startswith(".") for part in file.parts[1:]))
    elif path.is_file():
        yield path
    else:
        raise UsageError(f"{path}: no such file or folder; give test files or folders that hold some")


def _in_module(module: ModuleType, file: Path) -> Iterator[Collected | LeftOut]:
    marks = _marks(module)
    for name, value in vars(module).items():
        if inspect.isclass(value):
            if issubclass(value, unittest.TestCase) or name.startswith("Test"):
                yield from _in_class(value, file, marks)
        elif _settings(value) is not None and value.__module__ == module.__name__:
            yield from _expanded(value, file, None, marks)


def _in_class(owner: type, file: Path, marks: list[Any]) -> Iterator[Collected | LeftOut]:
    marks = [*marks, *_marks(owner)]
    for name in dir(owner):
        function = inspect.getattr_static(owner, name)
        if isinstance(function, (staticmethod, classmethod)):
            function = function.__func__
        if name.startswith("test") and _settings(function) is not None:
            yield from _expanded(function, file, (owner, name), marks)


def _settings(value: Any) -> Settings | None:
    found = getattr(value, "__autotest__", None)
    return found if isinstance(found, Settings) and callable(value) else None


def _marks(holder: Any) -> list[Any]:
    marks = getattr(holder, "pytestmark", [])
    return [getattr(mark, "mark", mark) for mark in (marks if isinstance(marks, (list, tuple)) else [marks])]


def _expanded(
    function: Any, file: Path, place: tuple[type, str] | None, outer: list[Any]
) -> Iterator[Collected | LeftOut]:
    marks = [*outer, *_marks(function)]
    original = inspect.unwrap(function)
    source = Path(inspect.getfile(original))
    known = test_id(original, source, (), {})
    skip = _skipped(function, place, marks)
    if skip is not None:
        yield LeftOut(known, skip)
        return
    settings = _settings(function)
    assert settings is not None
    for kwargs, why in _cases(marks):
        if why is not None:
            yield LeftOut(test_id(original, source, (), kwargs), why)
            continue
        missing = _missing(original, place is not None, kwargs)
        if missing:
            yield LeftOut(known, f"needs the fixtures {', '.join(missing)}")
            return
        if place is None:
            yield Collected(test_id(original, source, (), kwargs), file, settings, _calling(function, kwargs))
        elif issubclass(place[0], unittest.TestCase):
            yield Collected(test_id(original, source, (), {}), file, settings, _debugging(*place))
        else:
            instance = place[0]()
            shown = test_id(original, source, (instance,), kwargs)
            yield Collected(shown, file, settings, _between(instance, place[1], kwargs))


def _calling(function: Any, kwargs: dict[str, Any]) -> Callable[[], None]:
    return lambda: function(**kwargs)


def _debugging(owner: type[unittest.TestCase], name: str) -> Callable[[], None]:
    """A method of a TestCase, with its class's own set-up once and the test's around every call."""
    ready: list[bool] = []

    def call() -> None:
        if not ready:
            owner.setUpClass()
            ready.append(True)
        case = owner(name)
        try:
            case.debug()
        finally:
            case.doCleanups()

    return call


def _between(instance: Any, name: str, kwargs: dict[str, Any]) -> Callable[[], None]:
    method = getattr(instance, name)

    def run(hook: str) -> None:
        wanted = getattr(instance, hook, None)
        if wanted is not None:
            wanted(*([method] if inspect.signature(wanted).parameters else []))

    def call() -> None:
        run("setup_method")
        try:
            method(**kwargs)
        finally:
            run("teardown_method")

    return call


def _skipped(function: Any, place: tuple[type, str] | None, marks: list[Any]) -> str | None:
    for holder in (function, *([place[0]] if place else [])):
        if getattr(holder, "__unittest_skip__", False):
            return f"skipped: {getattr(holder, '__unittest_skip_why__', '')}"
    return _skip_mark(marks)


def _skip_mark(marks: Sequence[Any]) -> str | None:
    """What pytest's own marks have against running it."""
    for mark in marks:
        name, args = getattr(mark, "name", ""), getattr(mark, "args", ())
        if name == "skip":
            return f"skipped: {mark.kwargs.get('reason', args[0] if args else '')}"
        if name == "skipif" and args and not isinstance(args[0], str) and args[0]:
            return f"skipped: {mark.kwargs.get('reason', '')}"
        if name == "usefixtures":
            return f"needs the fixtures {', '.join(args)}"
    return None


def _cases(marks: list[Any]) -> Iterator[tuple[dict[str, Any], str | None]]:
    """The keyword arguments of every case that `parametrize` marks make, and why it is to be skipped.

    One case without any where there are no such marks.
    """
    axes: list[list[tuple[dict[str, Any], str | None]]] = []
    for mark in marks:
        if getattr(mark, "name", "") != "parametrize":
            continue
        arguments = dict(zip(("argnames", "argvalues", "indirect"), mark.args, strict=False)) | mark.kwargs
        names = arguments["argnames"]
        names = [name.strip() for name in names.split(",") if name.strip()] if isinstance(names, str) else list(names)
        through = arguments.get("indirect") or ()
        fixtures = [name for name in names if through is True or name in through]
        needs = f"needs the fixtures {', '.join(fixtures)}" if fixtures else None
        axis: list[tuple[dict[str, Any], str | None]] = []
        for value in arguments["argvalues"]:
            own = hasattr(value, "marks") and hasattr(value, "values")  # a pytest.param
            row = value.values if own else ((value,) if len(names) == 1 else value)
            why = needs or (_skip_mark([getattr(one, "mark", one) for one in value.marks]) if own else None)
            axis.append((dict(zip(names, row, strict=True)), why))
        axes.append(axis)
    for combination in itertools.product(*axes):
        arguments = {key: value for case, _ in combination for key, value in case.items()}
        yield arguments, next((why for _, why in combination if why), None)


def _missing(function: Any, method: bool, kwargs: dict[str, Any]) -> list[str]:
    """Parameters that nobody gives a value: pytest would look for fixtures of these names."""
    parameters = list(inspect.signature(function).parameters.values())[1 if method else 0 :]
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [
        parameter.name
        for parameter in parameters
        if parameter.kind in plain and parameter.default is parameter.empty and parameter.name not in kwargs
    ]
