"""NumPy counterparts of operators that select, place, count and order elements."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.special_series import FUNCTIONS
from autotest.diagnosis.counterparts.values import NumpyFunction, Unsupported, Values, axis_of, none_missing
from autotest.frameworks.torch_arguments import operands_of, sizes
from autotest.program.indexing import indexed


def _places(index: Values, dim: int) -> tuple[Any, ...]:
    """Return the indices that ``gather`` reads and ``scatter`` writes: `index` along `dim`, the own place otherwise.

    As torch documents, nothing is broadcast: if `index` is shorter than the tensor, the rest of the tensor is not used.
    """
    places: list[Any] = list(np.indices(index.shape, sparse=True))
    places[dim] = index
    return tuple(places)


def _gather(x: Values, dim: int, index: Values, *, sparse_grad: bool = False) -> Values:
    return np.asarray(x[_places(index, dim)])


def _scatter(x: Values, dim: int, index: Values, src: Any, *, reduce: Any = None) -> Values:
    places = _places(index, dim)
    if reduce is not None or _repeats(x, places):
        raise Unsupported  # if several values are written to one place, any of them may be the last
    result = x.copy()
    result[places] = src if np.ndim(src) == 0 else src[tuple(map(slice, index.shape))]
    return result


def _repeats(x: Values, places: tuple[Any, ...]) -> bool:
    count = np.zeros(x.shape, int)
    np.add.at(count, places, 1)
    return bool((count > 1).any())


def _scatter_add(x: Values, dim: int, index: Values, src: Values) -> Values:
    result = x.copy()
    np.add.at(result, _places(index, dim), src[tuple(map(slice, index.shape))])
    return result


def _index_add(x: Values, dim: int, index: Values, source: Values, *, alpha: Any = 1) -> Values:
    if not x.ndim:
        raise Unsupported
    result = np.moveaxis(x.copy(), dim, 0)
    np.add.at(result, np.atleast_1d(index), alpha * np.moveaxis(source, dim, 0))
    return np.moveaxis(result, 0, dim)


def _index_fill(x: Values, dim: int, index: Values, value: Any) -> Values:
    if not x.ndim:
        raise Unsupported
    result = np.moveaxis(x.copy(), dim, 0)
    result[np.atleast_1d(index)] = value
    return np.moveaxis(result, 0, dim)


def _plain_key(key: Any) -> Any:
    """Return `key`. Raise `Unsupported` if it contains a list, which NumPy treats in another way than torch."""
    if any(isinstance(part, list) for part in (key, *(key if isinstance(key, tuple) else ()))):
        raise Unsupported
    return key


def _getitem(x: Values, key: Any) -> Values:
    return indexed(x, _plain_key(key))[0]


def _setitem(x: Values, key: Any, value: Any) -> Values:
    places, _ = indexed(np.arange(x.size).reshape(x.shape), _plain_key(key))
    result = x.reshape(-1).copy()
    result[places] = value
    return result.reshape(x.shape)


def _copied(x: Values, source: Any, non_blocking: bool = False) -> Values:
    return np.broadcast_to(source, x.shape).astype(x.dtype)


def _squeezed(x: Values, dim: Any = None) -> Values:
    if dim is None:
        return np.squeeze(x)
    axes = [one % max(x.ndim, 1) for one in (dim if isinstance(dim, (tuple, list)) else (dim,))]
    return np.squeeze(x, tuple(one for one in axes if one < x.ndim and x.shape[one] == 1))


def _one_hot(x: Values, num_classes: int = -1) -> Values:
    return np.eye(int(x.max()) + 1 if num_classes < 0 else num_classes, dtype=np.int64)[x]


def _nonzero(x: Values, *, as_tuple: bool = False) -> Any:
    return tuple(np.nonzero(x)) if as_tuple else np.argwhere(x)


def _searchsorted(
    ordered: Values, x: Any, *, out_int32: bool = False, right: bool = False, side: Any = None, sorter: Any = None
) -> Values:
    if ordered.ndim != 1 or sorter is not None:
        raise Unsupported
    none_missing(ordered)
    return np.asarray(np.searchsorted(ordered, none_missing(x), side=side or ("right" if right else "left")))


def _embedding(
    x: Values, weight: Values, padding_idx: Any = None, max_norm: Any = None, *rest: Any, **more: Any
) -> Any:
    if max_norm is not None:
        raise Unsupported
    return weight[x]


def _expanded(x: Values, *given: Any) -> Values:
    wanted = sizes(given)
    own = [*[1] * (len(wanted) - x.ndim), *x.shape]
    return np.broadcast_to(x, [n if size == -1 else size for n, size in zip(own, wanted, strict=True)])


def _cross(x: Values, y: Values, dim: Any = None) -> Values:
    # torch looks for the dimension in its first operand, as it was before broadcasting.
    axis = next(at for at, size in enumerate(x.shape) if size == 3) if dim is None else dim
    x, y = np.broadcast_arrays(x, y)
    return np.asarray(np.cross(x, y, axis=axis))


def _unique(x: Values) -> Values:
    if np.isnan(x).any():
        raise Unsupported
    return np.unique(x)


INDEXING: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        "getitem": _getitem,
        "setitem": _setitem,
        "copy": _copied,
        "clone": lambda x: x,
        "contiguous": lambda x: x,
        "gather": _gather,
        "scatter": _scatter,
        "scatter_add": _scatter_add,
        "index_add": _index_add,
        "index_fill": _index_fill,
        "masked_select": lambda x, mask: np.broadcast_arrays(x, mask)[0][np.broadcast_arrays(x, mask)[1]],
        "select": lambda x, dim, index: np.take(x, index, axis=dim),
        "narrow": lambda x, dim, start, length: np.take(x, range(start, start + length), axis=dim),
        "unique": _unique,
        "squeeze": _squeezed,
        "tile": lambda x, *dims: np.tile(x, sizes(dims)),
        "expand": _expanded,
        "repeat_interleave": lambda x, repeats, dim=None: np.repeat(x, repeats, axis=dim),
        "one_hot": _one_hot,
        "nonzero": _nonzero,
        "argwhere": _nonzero,
        "searchsorted": _searchsorted,
        "bincount": lambda x, weights=None, minlength=0: np.bincount(x, weights, minlength),
        "embedding": _embedding,
        "cross": _cross,
        "tensordot": lambda x, y, dims=2: np.tensordot(x, y, dims),
        "einsum": lambda equation, *operands: np.einsum(equation, *operands_of(operands)),
        "diagonal": lambda x, offset=0, dim1=0, dim2=1: np.diagonal(x, offset, dim1, dim2),
        "movedim": lambda x, source, destination: np.moveaxis(x, source, destination),  # noqa: PLW0108
        "nansum": lambda x, dim=None, keepdim=False: np.nansum(x, axis=axis_of(dim), keepdims=keepdim),
        "lgamma": FUNCTIONS["lgamma"],
        "hypot": lambda x, y: np.hypot(x, y),  # noqa: PLW0108
        "signbit": lambda x: np.signbit(x),  # noqa: PLW0108
        "atleast_1d": lambda x: np.atleast_1d(x),  # noqa: PLW0108
        "atleast_2d": lambda x: np.atleast_2d(x),  # noqa: PLW0108
        "numel": lambda x: x.size,
    }
)
