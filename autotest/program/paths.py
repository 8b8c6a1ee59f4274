"""Paths of values inside of what a call gave: ``[1]`` of a tuple, ``.weight`` of a module, ``.grad`` of a tensor."""

from __future__ import annotations

import re
from collections.abc import Iterable

_GRADIENT = ".grad"
_ITEMS = re.compile(r"(?:\[\d+\])*")


def item_path(indices: Iterable[int]) -> str:
    """The path of an item in tuples and lists: ``[1][0]`` of ``(1, 0)``."""
    return "".join(f"[{index}]" for index in indices)


def indices_of(path: str) -> tuple[int, ...] | None:
    """The indices of which `path` consists, () for none; None where there is anything else in it, such as a name."""
    found = _ITEMS.fullmatch(path)
    return None if found is None else tuple(map(int, re.findall(r"\d+", path)))


def member_of(path: str) -> str:
    """The name by which a module knows the parameter or buffer at `path`: ``0.weight`` of ``.0.weight``."""
    return path.removeprefix(".")


def gradient_of(path: str) -> str:
    """The path of the gradient of what is at `path`."""
    return path + _GRADIENT


def is_gradient(path: str) -> bool:
    """Whether `path`, or a name that ends in it, is that of a gradient."""
    return path.endswith(_GRADIENT)


def owner_of_gradient(path: str) -> str:
    """The path of what has the gradient that `path` is of; any other path as it is."""
    return path.removesuffix(_GRADIENT)


__all__ = ["gradient_of", "indices_of", "is_gradient", "item_path", "member_of", "owner_of_gradient"]
