"""torch's indexing of arrays, which differs from NumPy's if numbers and arrays are mixed."""

from __future__ import annotations

from typing import Any

import numpy as np


def indexed(values: np.ndarray[Any, Any], key: Any) -> tuple[np.ndarray[Any, Any], bool]:
    """Return the elements that torch's index `key` selects, and whether torch returns a view of them.

    torch selects by numbers before it looks at arrays: ``x[0, :, [1, 2]]`` is ``x[0][:, [1, 2]]``. To NumPy, a number
    beside an array is an array, too, so that the dimension of the arrays would come first. An array without dimensions
    is a number, and one of uint8 is a mask.
    """
    parts = [_part(item) for item in (key if isinstance(key, tuple) else (key,))]
    used = sum(_dimensions(part) for part in parts)
    first: list[Any] = []  # the index by numbers and slices, then the one by arrays
    second: list[Any] = []
    for part in parts:
        if part is Ellipsis:
            rest = [slice(None)] * (values.ndim - used)
            first += rest
            second += rest
        elif isinstance(part, int):
            first.append(part)
        elif not isinstance(part, np.ndarray):
            first.append(part)
            second.append(slice(None))
        else:
            # A single truth value indexes a new dimension of one element.
            first += [slice(None)] * _dimensions(part) if part.ndim or part.dtype != bool else [None]
            second.append(np.atleast_1d(part))
    chosen = values[tuple(first)]
    basic = not any(isinstance(part, np.ndarray) for part in parts)
    return np.asarray(chosen if basic else chosen[tuple(second)]), basic


def _part(item: Any) -> Any:
    """Return one item of an index: a number, slice, None, Ellipsis, or an array of places or truth values."""
    if isinstance(item, (list, range)):
        item = np.asarray(item) if len(item) else np.empty(0, np.intp)
    elif isinstance(item, (bool, np.generic)):
        item = np.asarray(item)
    if not isinstance(item, np.ndarray):
        return item
    if item.dtype == np.uint8:
        item = item.astype(bool)
    return int(item) if item.ndim == 0 and item.dtype != bool else item


def _dimensions(part: Any) -> int:
    """Return the number of dimensions that an item of an index selects from."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype == bool else 1
