"""Which keywords of a call its caller wrote, where torch hands on more of them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any


def without_defaults(function: Any, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """`kwargs` without those that say what `function` does anyway, which torch hands on as if they had been written."""
    if not kwargs:
        return {}
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a built-in function, which hands on what was written
        return dict(kwargs)
    usual = {name: parameter.default for name, parameter in parameters.items()}
    return {
        name: value
        for name, value in kwargs.items()
        if not (name.startswith("_") or value is usual.get(name, inspect.Parameter.empty))
        and not (_is_plain(value) and value == usual.get(name))
    }


def _is_plain(value: Any) -> bool:
    """Whether `value` is a number, a text, or a tuple of them, such as Adam's betas: a tensor has no one equality."""
    if type(value) is tuple:
        return all(_is_plain(item) for item in value)
    return type(value) in (bool, int, float, str)
