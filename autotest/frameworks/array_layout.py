"""Copies of NumPy's arrays that keep the gaps between elements, for kernels that write into memory with gaps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autotest.emission import literals


def has_gaps(array: np.ndarray[Any, Any]) -> bool:
    """Return whether other memory lies between the elements of `array`, and each element has its own."""
    return _extent(array) > array.size


def copied(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a copy of `array`. Its elements have the same distances, unless several of them share memory."""
    if not has_gaps(array):
        return np.copy(array)
    memory = np.lib.stride_tricks.as_strided(np.zeros(_extent(array), array.dtype), array.shape, array.strides)
    memory[...] = array
    return memory


def source_of_memory(array: np.ndarray[Any, Any]) -> str:
    """Return the source of an array of zeros that is laid out as `array`, which has gaps."""
    memory = f"np.zeros({_extent(array)}, {literals.plain(array.dtype.name)})"
    return f"np.lib.stride_tricks.as_strided({memory}, {array.shape}, {array.strides})"


def _extent(array: np.ndarray[Any, Any]) -> int:
    """Return the number of elements from the first to the last of `array` in memory; 0 if they share memory."""
    steps = [(size - 1, step) for size, step in zip(array.shape, array.strides, strict=True) if size > 1]
    if not array.size or any(step <= 0 for _, step in steps):
        return 0
    return 1 + math.ceil(sum(last * step for last, step in steps) / array.itemsize)


__all__ = ["copied", "has_gaps", "source_of_memory"]
