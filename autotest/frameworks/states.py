"""Comparison of the names and shapes of two modules' parameters and buffers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

#: The shapes of a module's parameters and buffers, by name.
Shapes: TypeAlias = Mapping[str, tuple[int, ...]]


class StateDiffers(Exception):
    """A new module has other parameters or buffers than the reference's; the text says which."""


def difference(expected: Shapes, actual: Shapes) -> str | None:
    """Return a message about the first difference between the states of two modules, or None if there is none."""
    if expected.keys() != actual.keys():
        return f"names of parameters and buffers differ. expected {sorted(expected)}, actual {sorted(actual)}"
    name = next((name for name in expected if expected[name] != actual[name]), None)
    return None if name is None else f"shape of {name} differs. expected {expected[name]}, actual {actual[name]}"
