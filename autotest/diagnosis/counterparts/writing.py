"""NumPy counterparts of operators that write at indices or read from them; they write into copies."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from autotest.diagnosis.counterparts.values import NumpyFunction, Unsupported, Values


def _take(x: Values, index: Values) -> Values:
    return np.asarray(x.reshape(-1)[index])


def _take_along(x: Values, indices: Values, dim: Any = None) -> Values:
    if dim is None:
        return np.asarray(x.reshape(-1)[indices.reshape(-1)])
    axis = dim % x.ndim
    sizes = np.broadcast_shapes(
        *(tuple(1 if at == axis else n for at, n in enumerate(side.shape)) for side in (x, indices))
    )
    x, indices = (np.broadcast_to(side, (*sizes[:axis], side.shape[axis], *sizes[axis + 1 :])) for side in (x, indices))
    return np.asarray(np.take_along_axis(x, indices, axis))


def _put(x: Values, index: Values, source: Values, accumulate: bool = False) -> Values:
    made = x.reshape(-1).copy()
    at = index.reshape(-1) % max(made.size, 1)
    _write(made, (at,), source.reshape(-1), accumulate)
    return made.reshape(x.shape)


def _index_put(x: Values, indices: Any, values: Values, accumulate: bool = False) -> Values:
    made = x.copy()
    where = tuple(slice(None) if index is None else index for index in indices)
    if any(isinstance(index, slice) for index in where):
        raise Unsupported
    _write(made, where, values, accumulate)
    return made


def _write(made: Values, where: tuple[Any, ...], values: Values, accumulate: bool) -> None:
    """Write `values` into `made`.

    Raise `Unsupported` if different values are written to the same place, as any of them may remain there.
    """
    if accumulate:
        np.add.at(made, where, values)
        return
    made[where] = values
    if not np.array_equal(made[where], np.broadcast_to(values, made[where].shape), equal_nan=made.dtype.kind == "f"):
        raise Unsupported


def _index_copy(x: Values, dim: int, index: Values, source: Values) -> Values:
    made = np.moveaxis(x.copy(), dim, 0) if x.ndim else x.reshape(1).copy()
    if len(set(index.reshape(-1).tolist())) < index.size:
        raise Unsupported
    made[index.reshape(-1)] = np.moveaxis(source, dim, 0) if source.ndim else source
    return np.asarray(np.moveaxis(made, 0, dim) if x.ndim else made.reshape(()))


def _masked_scatter(x: Values, mask: Values, source: Values) -> Values:
    x, mask = np.broadcast_arrays(x, mask)
    made = x.copy()
    made[mask] = source.reshape(-1)[: int(mask.sum())]
    return made


def _scatter_reduce(
    x: Values, dim: int, index: Values, source: Values, reduce: str, *, include_self: bool = True
) -> Values:
    known: dict[str, np.ufunc] = {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
    combine = known[reduce]
    if not include_self or not x.ndim:
        raise Unsupported
    made = x.copy()
    where = list(np.indices(index.shape, sparse=True))
    where[dim] = index
    combine.at(made, tuple(where), source[tuple(slice(0, n) for n in index.shape)])
    return made


def _diagonal_embedded(x: Values, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Values:
    if (dim1, dim2) != (-2, -1):
        raise Unsupported
    size = x.shape[-1] + abs(offset)
    made = np.zeros((*x.shape[:-1], size, size), x.dtype)
    at = np.arange(x.shape[-1])
    made[..., at + max(-offset, 0), at + max(offset, 0)] = x
    return made


def _select_scatter(x: Values, source: Values, dim: int, index: int) -> Values:
    made = x.copy()
    np.moveaxis(made, dim, 0)[index] = source
    return made


def _slice_scatter(
    x: Values, source: Values, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Values:
    made = x.copy()
    np.moveaxis(made, dim, 0)[start:end:step] = np.moveaxis(source, dim, 0)
    return made


WRITING: Mapping[str, NumpyFunction] = MappingProxyType(
    {
        "take": _take,
        "take_along_dim": _take_along,
        "put": _put,
        "index_put": _index_put,
        "index_copy": _index_copy,
        "masked_scatter": _masked_scatter,
        "scatter_reduce": _scatter_reduce,
        "diag_embed": _diagonal_embedded,
        "select_scatter": _select_scatter,
        "slice_scatter": _slice_scatter,
    }
)
