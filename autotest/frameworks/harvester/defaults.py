"""Finds the keyword arguments that the caller of a function wrote, because torch also passes on default values."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any


def without_defaults(function: Any, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return `kwargs` without private ones and without default values, which torch passes on as if they were given."""
    if not kwargs:
        return {}
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a built-in function, which passes on only the given arguments
        return dict(kwargs)
    usual = {name: parameter.default for name, parameter in parameters.items()}
    return {
        name: value
        for name, value in kwargs.items()
        if not (name.startswith("_") or value is usual.get(name, inspect.Parameter.empty))
        and not (_is_plain(value) and value == usual.get(name))
    }


def _is_plain(value: Any) -> bool:
    """Return whether `value` is a number, a string, or a tuple of them, such as Adam's betas.

    Other values are not compared with ``==``: for a tensor it does not return one bool.
    """
    if type(value) is tuple:
        return all(_is_plain(item) for item in value)
    return type(value) in (bool, int, float, str)
