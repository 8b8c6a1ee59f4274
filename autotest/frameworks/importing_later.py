"""Puts off the import of modules that others import and hardly use, until something of them is called."""

from __future__ import annotations

import contextlib
import importlib.util
import pkgutil
import sys
from collections.abc import Iterator
from typing import Any, cast


class Later:
    """A module, or what is in one, which is imported when that is called or gone through."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # which importing, copying and wrapping ask for, and do without
            raise AttributeError(name)
        return Later(f"{self._name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._meant()(*args, **kwargs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._meant())

    def __deepcopy__(self, memo: dict[int, Any]) -> Later:
        return self

    def _meant(self) -> Any:
        found = pkgutil.resolve_name(self._name)
        if type(found) is Later:
            raise ImportError(f"{self._name} is asked for while its import is put off")
        return found


@contextlib.contextmanager
def importing_later(*names: str) -> Iterator[None]:
    """What imports one of these modules meanwhile gets a `Later`, unless it is imported already or not installed."""
    made: dict[str, Any] = {name: Later(name) for name in names if name not in sys.modules and _installed(name)}
    sys.modules.update(made)
    try:
        yield
    finally:
        for name, one in made.items():
            if cast("Any", sys.modules.get(name)) is one:
                del sys.modules[name]


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name.partition(".")[0]) is not None
