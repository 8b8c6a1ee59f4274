"""NumPy counterparts for sorting and extremes, without indices of equal elements, whose order is unspecified."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.values import NumpyFunction, Unsupported, Values


def _order(x: Values, dim: int, descending: bool) -> Values:
    found = np.argsort(x, axis=dim, kind="stable")
    return np.flip(found, axis=dim) if descending else found


def _if_distinct(x: Values, dim: int, places: Values) -> Values | None:
    """Return `places`, or None if two elements along `dim` are equal or one is NaN."""
    ordered = np.sort(x, axis=dim)
    along = np.moveaxis(ordered, dim, 0) if x.ndim else ordered[None]
    has_ties = np.isnan(ordered).any() or (along[1:] == along[:-1]).any()
    return None if has_ties else places


def _sort(x: Values, dim: int = -1, descending: bool = False) -> tuple[Values, Values | None]:
    ordered = np.sort(x, axis=dim)
    places = _if_distinct(x, dim, _order(x, dim, descending))
    return (np.flip(ordered, axis=dim) if descending else ordered), places


def _argsort(x: Values, dim: int = -1, descending: bool = False) -> Values | None:
    return _if_distinct(x, dim, _order(x, dim, descending))


def _topk(
    x: Values, k: int, dim: int = -1, largest: bool = True, sorted: bool = True  # noqa: A002 - its own name
) -> tuple[Values, Values | None]:  # fmt: skip
    if not (sorted and x.ndim):
        raise Unsupported
    ordered, places = _sort(x, dim, descending=largest)
    return ordered.take(range(k), axis=dim), None if places is None else places.take(range(k), axis=dim)


def _place(x: Values, value: Values, dim: int, keepdim: bool) -> Values | None:
    """Return the indices along `dim` of the elements of `value`; None if one of them occurs more than once.

    `value` has one element along `dim`.
    """
    same = x == value
    if (same.sum(axis=dim) != 1).any():
        return None
    return np.asarray(np.argmax(same, axis=dim, keepdims=keepdim))


def _extreme(reduce: NumpyFunction, elementwise: NumpyFunction) -> NumpyFunction:
    """Return a function for the extreme of all elements, along a dimension (with its index), or of two operands."""

    def extreme(x: Values, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is None:
            return reduce(x)
        if isinstance(dim, np.ndarray):
            return elementwise(x, dim)
        found = np.asarray(reduce(x, axis=dim, keepdims=True))
        return (found if keepdim else found.squeeze(dim)), _place(x, found, dim, keepdim)

    return extreme


def _nth(x: Values, at: int, dim: int, keepdim: bool) -> tuple[Values, Values | None]:
    """Return the element at position `at` in ascending order, and its index. Raise `Unsupported` for NaN."""
    if np.isnan(x).any():
        raise Unsupported
    found = np.sort(x, axis=dim).take([at], axis=dim)
    return (found if keepdim else found.squeeze(dim)), _place(x, found, dim, keepdim)


def _median(x: Values, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the median; of two elements in the middle the lower one, as in torch."""
    if dim is None:
        return _nth(x.reshape(-1), (x.size - 1) // 2, 0, False)[0]
    return _nth(x, (x.shape[dim] - 1) // 2, dim, keepdim)


def _kthvalue(x: Values, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Values, Values | None]:
    return _nth(x, k - 1, dim, keepdim) if x.ndim else (x, None)


ORDERING: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        "sort": _sort,
        "argsort": _argsort,
        "topk": _topk,
        "max": _extreme(np.max, np.maximum),
        "min": _extreme(np.min, np.minimum),
        "median": _median,
        "kthvalue": _kthvalue,
        "argmax": lambda x, dim=None, keepdim=False: np.argmax(x, axis=dim, keepdims=keepdim),
        "argmin": lambda x, dim=None, keepdim=False: np.argmin(x, axis=dim, keepdims=keepdim),
    }
)  # fmt: skip
