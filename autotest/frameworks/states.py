"""Whether two modules hold parameters and buffers of the same names and shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

#: The shapes of a module's parameters and buffers, by name.
Shapes: TypeAlias = Mapping[str, tuple[int, ...]]


class StateDiffers(Exception):
    """A new module holds other parameters or buffers than the reference's; the text says which."""


def difference(expected: Shapes, actual: Shapes) -> str | None:
    """In what the state of two modules differs: the names in it, or a shape."""
    if expected.keys() != actual.keys():
        return f"names of parameters and buffers differ. expected {sorted(expected)}, actual {sorted(actual)}"
    name = next((name for name in expected if expected[name] != actual[name]), None)
    return None if name is None else f"shape of {name} differs. expected {expected[name]}, actual {actual[name]}"
