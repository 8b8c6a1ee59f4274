"""Names of tests and seeds of their trials, which are the same under unittest, under pytest and in campaigns."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import inspect
import itertools
import sys
import types
import unittest
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final

from generators import TRIAL_BITS


@dataclasses.dataclass(frozen=True, slots=True)
class CollectedName:
    """The name of a test, given by the place where a collector found it. The test may be written elsewhere."""

    #: The object that the collector found: the decorated function, or a wrapper around it.
    function: Any
    file: Path
    #: ``Class.attribute``, or the name of a global.
    name: str
    #: The file's name, preceded by folders if two files share a name.
    label: str = ""
    #: Replacements for the reprs of arguments whose own repr contains an address.
    arguments: Mapping[str, str] = dataclasses.field(default_factory=dict)
    #: Arguments that are not part of the name, because a fixture's value changes from run to run.
    fixtures: frozenset[str] = frozenset()
    #: Number among several tests with the same id: 2 for the second.
    number: int = 1
    #: Which parameters of its fixtures it has, see `variant_of`; empty for the first of each.
    variant: str = ""

    def id(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """Return ``file.py::Class.method[arguments]``."""
        return f"{self.label or self.file.name}::{self.within_file(args, kwargs)}"

    def within_file(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """Return ``Class.method[arguments]``."""
        shown = [shown_argument(item) for item in args]
        shown += [
            f"{key}={shown_argument(value, self.arguments.get(key))}"
            for key, value in sorted(kwargs.items())
            if key not in self.fixtures
        ]
        written = self.name + (f"[{', '.join(shown)}]" if shown else "")
        written += "" if self.number == 1 else f"#{self.number}"
        return f"{written}#{self.variant}" if self.variant else written


#: Cached conversion of file names to paths: every test of a file needs the path, and pathlib is slow.
path_of: Final = functools.lru_cache(maxsize=256)(Path)


def shown_argument(value: Any, label: str | None = None) -> str:
    """Return the text of an argument in the id of a test, which is the same in every run."""
    text = _sorted_repr(value)
    # An address in the repr would change the seeds in every run.
    return text if " at 0x" not in text else label or "object"


def _sorted_repr(value: Any) -> str:
    """Return the repr of `value`, in which the elements of sets are sorted: their order may change in every run."""
    kind = type(value)
    if kind is dict:
        return "{" + ", ".join(f"{_sorted_repr(key)}: {_sorted_repr(item)}" for key, item in value.items()) + "}"
    if kind is list:
        return f"[{', '.join(map(_sorted_repr, value))}]"
    if kind is tuple:
        return f"({', '.join(map(_sorted_repr, value))}{',' if len(value) == 1 else ''})"
    if kind in (set, frozenset) and value:
        elements = "{" + ", ".join(sorted(map(_sorted_repr, value))) + "}"
        return elements if kind is set else f"frozenset({elements})"
    return repr(value)


def variant_of(positions: Mapping[str, int]) -> str:
    """Return a text for the parameters of a test's fixtures: ``2`` for the second one, ``1.2`` if there are two.

    Args:
        positions: the position of the parameter of each parametrized fixture, from 0.

    Returns:
        The text, which is empty for the first parameter of each fixture, whichever tests are selected.
    """
    numbers = [position + 1 for _, position in sorted(positions.items())]
    return ".".join(map(str, numbers)) if any(number > 1 for number in numbers) else ""


_collected: ContextVar[CollectedName | None] = ContextVar("autotest_called", default=None)


@contextlib.contextmanager
def collected_as(called: CollectedName | None) -> Iterator[None]:
    """Inside the block, use the collector's name `called` for its test; None changes nothing."""
    if called is None:
        yield
        return
    token = _collected.set(called)
    try:
        yield
    finally:
        _collected.reset(token)


def current_name(
    run: Callable[..., Any], written: Callable[..., Any], file: Path, args: tuple[Any, ...]
) -> CollectedName:
    """Return the name of the decorated function `run` during a call with `args`.

    If no collector has set a name with `collected_as`, the name is looked up in the class of the object that a method
    is called on, or among the globals of the function's module.

    Args:
        run: the decorated function.
        written: the undecorated function.
        file: the file that defines `written`.
        args: the positional arguments of the call.
    """
    found = _collected.get()
    if found is not None and leads_to(found.function, run):
        return found
    owner = owner_of(run, args)
    if owner is None:
        name = _global_name(run, written) or written.__qualname__.rpartition("<locals>.")[2]
        return CollectedName(run, file, name)
    wanted = getattr(args[0], "_testMethodName", "")
    attribute = _attribute(owner, run, wanted) or written.__name__
    module = sys.modules.get(owner.__module__)
    home = getattr(module, "__file__", None)
    return CollectedName(run, path_of(home) if home else file, f"{class_name(owner)}.{attribute}")


def owner_of(run: Callable[..., Any], args: tuple[Any, ...]) -> type | None:
    """Return the class that `run` is a method of, given by its first argument, an object or class; None if none is."""
    if not args:
        return None
    first = args[0]
    owner = first if isinstance(first, type) else type(first)
    return owner if isinstance(first, unittest.TestCase) or _attribute(owner, run) else None


def leads_to(value: Any, run: Callable[..., Any]) -> bool:
    """Whether `value` is `run`, or wraps it: by `functools.wraps` or `partial`, as a static, class or bound method."""
    for _ in range(100):  # limited, because a wrapper may wrap itself
        if value is run:
            return True
        value = _inner(value)
        if value is None:
            return False
    return False


_BOUND: Final = (staticmethod, classmethod, types.MethodType)
#: Types of objects that may wrap a function.
_LEADING: Final = (types.FunctionType, functools.partial, *_BOUND)


def _inner(value: Any) -> Any:
    if isinstance(value, types.FunctionType):
        return vars(value).get("__wrapped__")
    if isinstance(value, functools.partial):
        return value.func
    # Attributes of other objects are not read: a module's globals may include objects that have every attribute.
    return value.__func__ if isinstance(value, _BOUND) else None


def _attribute(owner: type, run: Callable[..., Any], wanted: str = "") -> str | None:
    """Return the attribute of `owner` that contains `run`; prefer `wanted` if there are several."""
    first = (wanted, getattr(run, "__name__", ""))
    rest = (name for kind in owner.__mro__ for name in vars(kind))
    for name in itertools.chain(first, rest):
        if name and leads_to(inspect.getattr_static(owner, name, None), run):
            return name
    return None


def _global_name(run: Callable[..., Any], written: Callable[..., Any]) -> str | None:
    """Return the name of the global that contains `run` in the module that defines it."""
    module = sys.modules.get(written.__module__)
    if module is None:
        return None
    if leads_to(vars(module).get(written.__name__), run):  # fast path, nearly always taken
        return written.__name__
    found = _globals(written.__module__).items()
    return next((name for name, value in found if isinstance(value, _LEADING) and leads_to(value, run)), None)


def _globals(module: str) -> dict[str, Any]:
    return dict(vars(sys.modules[module])) if module in sys.modules else {}


def class_name(owner: type) -> str:
    """Return the name of a class in its module; for a class defined in a function, the name of a global."""
    if "<locals>" not in owner.__qualname__:
        return owner.__qualname__
    names = _globals(owner.__module__)
    return next((name for name, value in names.items() if value is owner), owner.__qualname__.rpartition(".")[2])


def labels(found: Iterable[tuple[Path, str]]) -> dict[tuple[Path, str], str]:
    """Return labels for the files of those tests that would share an id with a test of another file.

    Of several files with the same name, the first keeps it. The labels of the others include as many of their folders
    as needed to distinguish them.

    Args:
        found: the tests, each as its file and its name in the file.
    """
    taken: dict[tuple[str, str], Path] = {}
    given: dict[tuple[Path, str], str] = {}
    for file, name in sorted(set(found)):
        parts = file.parts
        for count in range(1, len(parts) + 1):
            label = "/".join(parts[-count:])
            if taken.setdefault((label, name), file) == file:
                if count > 1:
                    given[file, name] = label
                break
    return given


def without_folders(test: str) -> str:
    """Return the id of a test without the folders of its file, which depend on the tests that were collected."""
    file, colons, name = test.partition("::")
    return f"{file.rpartition('/')[2]}{colons}{name}"


def is_same_test(test: str, file: Path | None, other: str, others_file: Path | None) -> bool:
    """Return whether two ids, of tests in these files, are of the same test.

    Tests of two files may have the same id if they are collected in different runs, and one test may have two, see
    `labels`. Therefore the files decide, unless one is unknown or has gone: it was moved, or is of another machine.
    """
    if file is None or others_file is None or not others_file.is_file():
        return test == other
    return without_folders(test) == without_folders(other) and others_file.resolve() == file.resolve()


def trial_seed(base: int, test: str, index: int) -> int:
    """Return the seed of one trial, which is the same on every machine and in every process.

    The upper bits are `index`; `generators` uses them to choose the features of the trial. The folders in the id of a
    test have no influence, because they depend on which other tests were collected, see `labels`.
    """
    hashed = _hashed(base, test).copy()
    hashed.update(b"%d" % index)
    return index << TRIAL_BITS | int.from_bytes(hashed.digest(), "big")


@functools.lru_cache(maxsize=64)  # the trials of a test follow each other
def _hashed(base: int, test: str) -> hashlib.blake2b:
    """Return the hash of what all trials of a test have in common; the seed of each continues a copy of it."""
    return hashlib.blake2b(f"{base}\0{without_folders(test)}\0".encode(), digest_size=TRIAL_BITS // 8)
