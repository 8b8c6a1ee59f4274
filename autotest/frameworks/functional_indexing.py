"""Reads and writes items of tensors of a functional framework, by torch's indices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

from autotest.frameworks.functional_memory import must_not_overlap
from autotest.frameworks.functional_writes import without_leading_ones
from autotest.frameworks.tape import TapeTensor
from autotest.program import map_operand
from autotest.program.indexing import indexed

#: `autotest.frameworks.functional.Functional`, which imports this module.
_Functional: TypeAlias = Any


def _places(framework: _Functional, tensor: TapeTensor, key: Any) -> tuple[np.ndarray[Any, Any], bool]:
    """Return the flat indices that `key` selects, and whether `key` is a basic index, whose result is a view."""
    shape = framework.shape_of(framework.read(tensor))

    def leaf(item: Any) -> Any:
        return framework.numpy(framework.read(item)) if isinstance(item, TapeTensor) else item

    numbers = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
    return indexed(numbers, map_operand(key, leaf))


def getitem(framework: _Functional, owner: Any, key: Any) -> Any:
    if not isinstance(owner, TapeTensor):
        return owner[key]
    places, basic = _places(framework, owner, key)
    if basic and _is_plain(key):
        return framework.apply(lambda array: framework.part(array, key, places), (owner,), {}, view=True)
    reshape = framework.translated("reshape")
    return framework.apply(lambda array: framework.take(reshape(array, (-1,)), places), (owner,), {}, view=basic)


def _is_plain(key: Any) -> bool:
    """Return whether `key` has nothing but numbers of Python and slices, by which NumPy makes views, too."""
    return all(item is None or item is Ellipsis or type(item) is int for item in _numbers(key))


def _numbers(key: Any) -> Iterator[Any]:
    for item in key if isinstance(key, tuple) else (key,):
        yield from (item.start, item.stop, item.step) if isinstance(item, slice) else (item,)


def setitem(framework: _Functional, owner: Any, key: Any, value: Any) -> None:
    if not isinstance(owner, TapeTensor):
        owner[key] = value
        return
    places, basic = _places(framework, owner, key)
    reshape = framework.translated("reshape")
    part = TapeTensor(owner.array)
    framework.alias_of(part, owner, lambda array: framework.take(reshape(array, (-1,)), places))
    if basic:
        must_not_overlap(framework, part)
    part.array = framework.take(reshape(framework.read(owner), (-1,)), places)
    if framework.recording and owner.requires_grad and owner.is_leaf:
        raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    framework.write(part, without_leading_ones(framework, value, places.ndim))
