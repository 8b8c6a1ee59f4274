"""Makes arrays like harvested tensors: exact if the contents were recorded, otherwise drawn from the same range."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from autotest.base.errors import NotReplayable
from generators import DTYPES

#: Bytes of the largest array that is made.
LARGEST: Final = 1 << 28
#: One in this many elements becomes NaN or infinity, if the harvested tensor contained any.
_ONE_IN: Final = 100


def array(facts: Mapping[str, Any], generator: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return an array with the shape, strides and kind of values of a tensor; bfloat16 is represented as float32.

    Args:
        facts: the recorded properties of the tensor.
        generator: draws the values if they were not recorded.

    Raises:
        NotReplayable: No array can represent the tensor, or it is too large.
        ValueError: The facts are damaged.
    """
    dtype, shape = str(facts["dtype"]), tuple(int(size) for size in facts["shape"])
    if "layout" in facts:
        raise NotReplayable(f"a tensor of layout {facts['layout']}")
    if dtype not in DTYPES:
        raise NotReplayable(f"a tensor of dtype {dtype}")
    carrier = np.dtype("float32" if dtype == "bfloat16" else dtype)
    if math.prod(shape) * carrier.itemsize > LARGEST:
        raise NotReplayable(f"a tensor of shape {shape}, which is larger than {LARGEST >> 20} MiB")
    values = _exact(str(facts["contents"]), dtype, shape) if "contents" in facts else _drawn(facts, carrier, generator)
    return _laid_out(values, tuple(int(step) for step in facts["strides"]))


def _exact(contents: str, dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    data = zlib.decompress(base64.b64decode(contents))
    if dtype == "bfloat16":
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32).reshape(shape)
    return np.frombuffer(data, np.dtype(dtype).newbyteorder("<")).astype(dtype).reshape(shape)


def _drawn(facts: Mapping[str, Any], carrier: np.dtype[Any], generator: np.random.Generator) -> np.ndarray[Any, Any]:
    shape = tuple(facts["shape"])
    if carrier.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    low, high = facts.get("range") or (0, 0)
    if carrier.kind in "iu":
        return generator.integers(int(low), int(high), shape, carrier, endpoint=True)
    values: Any = _between(float(low), float(high), shape, generator)
    if carrier.kind == "c":
        values = values + 1j * _between(float(low), float(high), shape, generator)
    values = np.asarray(values).astype(carrier)
    if facts["dtype"] == "bfloat16":
        values = (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    for name in facts.get("nonfinite", ()):
        values[generator.random(shape) < 1 / _ONE_IN] = float(name)
    return np.asarray(values)


def _between(low: float, high: float, shape: tuple[int, ...], generator: np.random.Generator) -> np.ndarray[Any, Any]:
    # `high - low` may overflow, so both are halved before the subtraction.
    return np.clip(low + generator.random(shape) * (high / 2 - low / 2) * 2, low, high)


def _laid_out(values: np.ndarray[Any, Any], strides: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return `values` with these strides, in elements."""
    if values.size == 0 or values.ndim == 0:
        return np.asarray(values, order="C")
    if len(strides) != values.ndim or min(strides) < 0:
        raise ValueError(f"strides {strides} of a tensor of shape {values.shape}")
    size = 1 + sum(step * (count - 1) for step, count in zip(strides, values.shape, strict=True))
    if size * values.itemsize > LARGEST:
        raise NotReplayable(f"a tensor of shape {values.shape} and strides {strides}, which is too large")
    flat = np.zeros(size, values.dtype)
    steps = tuple(step * values.itemsize for step in strides)
    made = np.lib.stride_tricks.as_strided(flat, values.shape, steps)
    made[...] = values
    return made
