"""Tells which special method a class lacks for a function of the `operator` module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_BINARY: Final = frozenset("add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split())
_MIRRORED: Final = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def lacking_special_method(target: str, kinds: Sequence[type], *, reflected: bool) -> str:
    """Return the special method that ``operator.target`` needs and no class in `kinds` has; "" if one has it.

    Args:
        target: the name of a function in `operator`, such as ``"and_"`` or ``"iadd"``.
        kinds: the classes of the operands that are tensors; if there are none, nothing is missing.
        reflected: whether the first operand is no tensor, as in ``2.0 / x``.
    """
    name = target.rstrip("_")
    if name not in _BINARY and name[:1] == "i" and name[1:] in _BINARY:  # without `__iadd__`, Python calls `__add__`
        name = name[1:]
    if reflected and (name in _BINARY or name in _MIRRORED):
        name = _MIRRORED.get(name, f"r{name}")
    needed = f"__{name}__"
    return "" if not kinds or any(_has(kind, needed) for kind in kinds) else needed


def _has(kind: type, name: str) -> bool:
    """Return whether `kind` defines `name`. Every class inherits comparisons of `object`, which compare nothing."""
    return getattr(kind, name, None) not in (None, getattr(object, name, None))
