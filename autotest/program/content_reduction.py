"""The shrinking pass that makes the values of arrays simpler."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autotest.program import Array, Program
from autotest.program.rewriting import with_arrays, with_contents
from autotest.program.semantics import cotangent_arrays

#: Magnitudes that greater values are replaced by.
_ROUND = (10.0, 100.0, 1e3, 1e4, 1e6, 1e9, 1e14, 1e19, 1e30)


def contents(program: Program) -> Iterator[Program]:
    """Yield programs with simpler values: all equal, small integers, all but one equal."""
    given = cotangent_arrays(program)
    for fill in (1, 0, 2, -1):
        # A cotangent of zeros would push nothing back.
        filled = [_filled(array, 1 if fill == 0 and at in given else fill) for at, array in enumerate(program.arrays)]
        yield with_arrays(program, filled)
    for index, array in enumerate(program.arrays):
        if not array.data.size or array.data.dtype.kind not in "fiub":
            continue
        for data in _simpler(array.data, (1, 0, 2, -1) if index in given else (0, 1, 2, -1)):
            yield with_contents(program, index, data)


def _filled(array: Array, fill: int) -> Array:
    return Array(np.full_like(array.data, fill), array.dtype) if array.data.dtype.kind == "f" else array


def _simpler(data: np.ndarray[Any, Any], fills: Sequence[int]) -> Iterator[np.ndarray[Any, Any]]:
    kind = data.dtype.kind
    for fill in fills if kind in "fi" else (0, 1):
        yield np.full_like(data, fill)
    if kind == "b":
        return
    for fill in (data.max(), data.min()):
        yield np.full_like(data, fill)
        if kind == "f" and np.isfinite(fill):
            yield np.full_like(data, np.ceil(fill))
            yield np.full_like(data, np.floor(fill))
    if kind == "f":
        yield np.round(data)
        yield np.round(data * 2) / 2
        yield _one_digit(data)
    if data.size > 1:
        finite = np.nan_to_num(data.astype(np.float64))
        at = np.unravel_index(int(np.argmax(np.abs(finite))), data.shape)
        for rest in (0, 1):
            odd = np.full_like(data, rest)
            odd[at] = data[at]
            yield odd
    greatest = float(data.reshape(-1)[int(np.argmax(np.abs(np.nan_to_num(data.astype(np.float64)))))])
    for size in _ROUND if math.isfinite(greatest) else ():
        if size < abs(greatest):
            yield np.where(np.abs(data) > size, np.asarray(math.copysign(size, greatest), data.dtype), data)


def _one_digit(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return `data` with each finite element rounded to one significant digit."""
    with np.errstate(over="ignore"):  # half precision: 65504 is rounded to 7e4
        return np.array([float(f"{item:.0e}") for item in data.reshape(-1).tolist()], data.dtype).reshape(data.shape)
