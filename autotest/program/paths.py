"""Paths of values inside a call's result: ``[1]`` of a tuple, ``.weight`` of a module, ``.grad`` of a tensor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

_GRADIENT = ".grad"
_ITEMS = re.compile(r"(?:\[\d+\])*")


def item_path(indices: Iterable[int]) -> str:
    """Return the path of an item in nested tuples and lists: ``[1][0]`` for the indices ``(1, 0)``."""
    return "".join(f"[{index}]" for index in indices)


def indices_of(path: str) -> tuple[int, ...] | None:
    """Return the indices in `path`, () if it is empty; None if it contains anything else, such as a name."""
    found = _ITEMS.fullmatch(path)
    return None if found is None else tuple(map(int, re.findall(r"\d+", path)))


def tensors_with_indices(value: Any, types: tuple[type, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield the tensors in nested tuples and lists, each with the indices that lead to it; a tensor itself has none.

    Args:
        value: the result of a call, live or read.
        types: the types of its tensors.
    """
    if isinstance(value, types):
        yield (), value
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            for indices, tensor in tensors_with_indices(item, types):
                yield (index, *indices), tensor


def item_at(value: Any, indices: Iterable[int]) -> Any:
    """Return the item of nested tuples and lists at `indices`; None if there is none."""
    for index in indices:
        value = value[index] if isinstance(value, (tuple, list)) and index < len(value) else None
    return value


def member_of(path: str) -> str:
    """Return the name, in its module, of the parameter or buffer at `path`: ``0.weight`` for ``.0.weight``."""
    return path.removeprefix(".")


def gradient_of(path: str) -> str:
    """Return the path of the gradient of the value at `path`."""
    return path + _GRADIENT


def is_gradient(path: str) -> bool:
    """Whether `path`, or a name that ends in a path, is that of a gradient."""
    return path.endswith(_GRADIENT)


def owner_of_gradient(path: str) -> str:
    """Return the path of the value whose gradient is at `path`; a path of no gradient is returned unchanged."""
    return path.removesuffix(_GRADIENT)
