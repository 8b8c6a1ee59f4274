"""The set-up around a test that the test does not name: of its module, of its class, and by autouse fixtures."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import sys
import types
import unittest
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from autotest.sources.outside_draws import draws_of_class, draws_of_module

#: Functions that pytest calls around tests, of a module and of a class. Those of unittest are called by `class_set_up`.
_OF_MODULE: Final = ("setup_module", "teardown_module", "setup_function", "teardown_function")
_OF_CLASS: Final = ("setup_class", "teardown_class")
_OF_UNITTEST: Final = ("setUpModule", "tearDownModule")
_AUTOUSE: Final = re.compile(r"\bautouse\s*=\s*(?!False\b)")


def module_needs_pytest(module: ModuleType, file: Path) -> bool:
    """Whether only pytest can set up the tests of the test file `file` as its authors expect."""
    names = vars(module)
    return (
        any(name in names for name in _OF_MODULE)
        or any(map(_is_autouse, names.values()))
        or any(_has_autouse(folder / "conftest.py") for folder in _folders(file.resolve()))
    )


def class_needs_pytest(owner: type) -> bool:
    """Whether only pytest can do the set-up that a class defines for its own tests."""
    kinds = owner.__mro__
    if not issubclass(owner, unittest.TestCase) and any(name in vars(kind) for kind in kinds for name in _OF_CLASS):
        return True
    return any(_is_autouse(value) for kind in kinds for value in vars(kind).values())


def has_unittest_set_up(module: ModuleType) -> bool:
    """Whether a module has the set-up of unittest, which pytest does for functions and plain classes, too."""
    return any(name in vars(module) for name in _OF_UNITTEST)


def _is_autouse(value: Any) -> bool:
    """Whether `value` is a fixture of pytest that each test in its scope gets."""
    # Attributes of other objects are not read: a module's globals may include objects that have every attribute.
    if type(value).__name__ == "FixtureFunctionDefinition":
        marker = inspect.getattr_static(value, "_fixture_function_marker", None)
    else:  # before pytest 8.4
        marker = vars(value).get("_pytestfixturefunction") if isinstance(value, types.FunctionType) else None
    return bool(getattr(marker, "autouse", False))


def _folders(file: Path) -> Iterator[Path]:
    """Yield the folders of the files that pytest reads for the tests of `file`, up to the root of the project."""
    for folder in file.parents:
        yield folder
        if (folder / "pyproject.toml").exists() or (folder / ".git").exists():
            return


@functools.lru_cache(maxsize=256)  # every task asks for all files above its test
def _has_autouse(conftest: Path) -> bool:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return _AUTOUSE.search(conftest.read_text(encoding="utf-8")) is not None
    return False


@contextlib.contextmanager
def class_set_up(owner: type[unittest.TestCase], file: Path) -> Iterator[None]:
    """Do what unittest does before the first and after the last test of a class, if this is its module's only class."""
    module = sys.modules.get(owner.__module__)
    with contextlib.ExitStack() as stack:
        stack.callback(unittest.case.doModuleCleanups)
        with draws_of_module(file).drawing():
            _begin(stack, getattr(module, "setUpModule", None), getattr(module, "tearDownModule", None))
        stack.callback(owner.doClassCleanups)
        with draws_of_class(owner, file).drawing():
            _begin(stack, owner.setUpClass, owner.tearDownClass)
        yield


def _begin(stack: contextlib.ExitStack, set_up: Any, tear_down: Any) -> None:
    if set_up is not None:
        set_up()
    if tear_down is not None:
        stack.callback(tear_down)
