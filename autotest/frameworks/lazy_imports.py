"""Defers the import of modules that other modules import and rarely use, until a member of them is called."""

from __future__ import annotations

import contextlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterator
from typing import Any, cast


class LazyModule:
    """A stand-in for a module or a member of one; the module is imported when the member is called or iterated over."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # import, copy and functools look for special attributes, and work without them
            raise AttributeError(name)
        return LazyModule(f"{self._name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._imported_object()(*args, **kwargs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._imported_object())

    def __deepcopy__(self, memo: dict[int, Any]) -> LazyModule:
        return self

    def _imported_object(self) -> Any:
        found = pkgutil.resolve_name(self._name)
        if type(found) is LazyModule:
            raise ImportError(f"{self._name} is used while its import is delayed")
        return found


@contextlib.contextmanager
def lazily_imported(*names: str) -> Iterator[None]:
    """Make imports of the modules `names` inside the block return a `LazyModule`.

    A module that is already imported, or not installed, is left alone.
    """
    made: dict[str, Any] = {name: LazyModule(name) for name in names if name not in sys.modules and _installed(name)}
    sys.modules.update(made)
    try:
        yield
    finally:
        for name, one in made.items():
            if cast("Any", sys.modules.get(name)) is one:
                del sys.modules[name]


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name.partition(".")[0]) is not None
