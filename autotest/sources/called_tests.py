"""What a test is called, and the seeds of its trials: the same under unittest, under pytest and in campaigns."""

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
class CollectedAs:
    """How a collector calls a test: by the place where it found it, which is not always where it was written."""

    #: What the collector found there: the decorated function, or something that wraps it.
    function: Any
    file: Path
    #: ``Class.attribute``, or the name of a global.
    name: str
    #: The file's name, with a folder before it where two files share one.
    label: str = ""
    #: What stands for arguments whose own repr holds an address.
    arguments: Mapping[str, str] = dataclasses.field(default_factory=dict)
    #: Arguments that are no part of its name: a fixture's value is another in every run.
    fixtures: frozenset[str] = frozenset()
    #: Which one it is of several that would have one id: 2 for the second.
    number: int = 1

    def id(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """``file.py::Class.method[arguments]``."""
        return f"{self.label or self.file.name}::{self.within_file(args, kwargs)}"

    def within_file(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """``Class.method[arguments]``."""
        shown = [_shown(item) for item in args]
        shown += [
            f"{key}={_shown(value, self.arguments.get(key))}"
            for key, value in sorted(kwargs.items())
            if key not in self.fixtures
        ]
        written = self.name + (f"[{', '.join(shown)}]" if shown else "")
        return written if self.number == 1 else f"{written}#{self.number}"


#: The path of a file's name, which every test of that file asks for, and pathlib takes long to make.
path_of: Final = functools.lru_cache(maxsize=256)(Path)


def _shown(value: Any, label: str | None = None) -> str:
    text = repr(value)
    # An object whose repr is an address would give other seeds in every run.
    return text if " at 0x" not in text else label or "object"


_collected: ContextVar[CollectedAs | None] = ContextVar("autotest_called", default=None)


@contextlib.contextmanager
def collected_as(called: CollectedAs | None) -> Iterator[None]:
    """Inside the block, the test that `called` speaks of has its collector's name for it; None changes nothing."""
    if called is None:
        yield
        return
    token = _collected.set(called)
    try:
        yield
    finally:
        _collected.reset(token)


def called_now(run: Callable[..., Any], written: Callable[..., Any], file: Path, args: tuple[Any, ...]) -> CollectedAs:
    """How the decorated function `run` is called while it is called with `args`.

    `written` is the function as it stands in `file`. Where no collector has said what it found, the name is looked up:
    in the class of the object that a method is given, or among the globals of the function's module.
    """
    found = _collected.get()
    if found is not None and leads_to(found.function, run):
        return found
    owner = owner_of(run, args)
    if owner is None:
        name = _global_name(run, written) or written.__qualname__.rpartition("<locals>.")[2]
        return CollectedAs(run, file, name)
    wanted = getattr(args[0], "_testMethodName", "")
    attribute = _attribute(owner, run, wanted) or written.__name__
    module = sys.modules.get(owner.__module__)
    home = getattr(module, "__file__", None)
    return CollectedAs(run, path_of(home) if home else file, f"{class_name(owner)}.{attribute}")


def owner_of(run: Callable[..., Any], args: tuple[Any, ...]) -> type | None:
    """The class that `run` is a method of, when its first argument is an object of that class, or the class."""
    if not args:
        return None
    first = args[0]
    owner = first if isinstance(first, type) else type(first)
    return owner if isinstance(first, unittest.TestCase) or _attribute(owner, run) else None


def leads_to(value: Any, run: Callable[..., Any]) -> bool:
    """Whether `value` is `run`, or wraps it as `functools.wraps` does, as a static or class method, or bound."""
    for _ in range(100):  # what wraps itself ends here
        if value is run:
            return True
        value = _inner(value)
        if value is None:
            return False
    return False


_BOUND: Final = (staticmethod, classmethod, types.MethodType)
#: What may lead to a function.
_LEADING: Final = (types.FunctionType, functools.partial, *_BOUND)


def _inner(value: Any) -> Any:
    if isinstance(value, types.FunctionType):
        return vars(value).get("__wrapped__")
    if isinstance(value, functools.partial):
        return value.func
    # Of anything else nothing is asked: a module's globals may be objects that answer to every name.
    return value.__func__ if isinstance(value, _BOUND) else None


def _attribute(owner: type, run: Callable[..., Any], wanted: str = "") -> str | None:
    """The attribute of `owner` under which `run` is found; `wanted` if it is one of several."""
    first = (wanted, getattr(run, "__name__", ""))
    rest = (name for kind in owner.__mro__ for name in vars(kind))
    for name in itertools.chain(first, rest):
        if name and leads_to(inspect.getattr_static(owner, name, None), run):
            return name
    return None


def _global_name(run: Callable[..., Any], written: Callable[..., Any]) -> str | None:
    """The name under which `run` stands in the module that it was written in."""
    module = sys.modules.get(written.__module__)
    if module is None:
        return None
    if leads_to(vars(module).get(written.__name__), run):  # nearly always, and every test asks
        return written.__name__
    found = _globals(written.__module__).items()
    return next((name for name, value in found if isinstance(value, _LEADING) and leads_to(value, run)), None)


def _globals(module: str) -> dict[str, Any]:
    return dict(vars(sys.modules[module])) if module in sys.modules else {}


def class_name(owner: type) -> str:
    """The name by which a class is found in its module; for one that was made in a function, the global's."""
    if "<locals>" not in owner.__qualname__:
        return owner.__qualname__
    names = _globals(owner.__module__)
    return next((name for name, value in names.items() if value is owner), owner.__qualname__.rpartition(".")[2])


def labels(found: Iterable[tuple[Path, str]]) -> dict[tuple[Path, str], str]:
    """File labels for those tests, of files and names, that would share an id with one of another file.

    Of files that share a name, the first keeps it; the others stand with as many of their folders as tell them apart.
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


def trial_seed(base: int, test: str, index: int) -> int:
    """The seed of one trial: the same on every machine and in every process.

    Its upper bits are `index`, by which `generators` finds the features that the trial is to have.
    """
    digest = hashlib.blake2b(f"{base}\0{test}\0{index}".encode(), digest_size=TRIAL_BITS // 8).digest()
    return index << TRIAL_BITS | int.from_bytes(digest, "big")
