"""Checks that the fields of a dataclass have the types that it declares, for objects that were read from a file."""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Mapping
from typing import Any


def wrong_field(value: Any) -> str:
    """Return which field of the dataclass instance `value` has a value of another type; empty if none has."""
    for name, hint in _hints(type(value)).items():  # type: ignore[arg-type] # a class is hashable
        if not _fits(getattr(value, name), hint):
            return f"{name} is {getattr(value, name)!r:.80}; expected {getattr(hint, '__name__', hint)}"
    return ""


@functools.cache
def _hints(kind: Any) -> Mapping[str, Any]:
    return typing.get_type_hints(kind)


def _fits(value: Any, hint: Any) -> bool:
    """Return whether `value` is of the type `hint`; of other types than the ones here, only the class is checked."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is typing.Literal:
        return isinstance(value, str) and value in inner
    if origin is tuple:
        each = [inner[0]] * len(value) if inner[-1] is Ellipsis and isinstance(value, tuple) else inner
        return isinstance(value, tuple) and len(value) == len(each) and all(map(_fits, value, each))
    if origin is dict:
        return isinstance(value, dict) and all(
            _fits(key, inner[0]) and _fits(item, inner[1]) for key, item in value.items()
        )
    if hint is float:
        return isinstance(value, (float, int))
    return isinstance(value, origin or hint)
