"""The dtypes by name, and the NumPy dtypes and ranges of their values."""

from __future__ import annotations

import contextlib
import math
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from generators.code_position import call_site, location
from generators.errors import BadBounds, GeneratorError, is_test_mistake, nearest

# pytest hides this module's frames from the traceback of a mistake in a test, which ends at the test's own line.
__tracebackhide__ = is_test_mistake

Array = np.ndarray[Any, np.dtype[Any]]

FLOATING: Final = ("float16", "bfloat16", "float32", "float64")
COMPLEX: Final = ("complex64", "complex128")
INTEGRAL: Final = ("int8", "int16", "int32", "int64", "uint8")
DTYPES: Final = (*FLOATING, *COMPLEX, *INTEGRAL, "bool")

_CARRIERS = MappingProxyType({name: np.dtype("float32" if name == "bfloat16" else name) for name in DTYPES})
#: The dtype that a Python type stands for: the one that frameworks give to a tensor made of such numbers.
_OF_PYTHON = MappingProxyType({float: "float32", int: "int64", bool: "bool", complex: "complex64"})
#: The floating dtype of the real and the imaginary part.
_PARTS = MappingProxyType({"complex64": "float32", "complex128": "float64"})


def dtype_name(dtype: Any) -> str:
    """Return the name of `dtype`.

    `dtype` may be a name, a Python type (``float`` is ``"float32"``, ``int`` is ``"int64"``), a NumPy dtype or scalar
    type, or a framework's dtype, whose name is taken from its ``str()``.

    Raises:
        GeneratorError: if `dtype` is none of these.
    """
    if type(dtype) is str and dtype in _CARRIERS:
        return dtype
    if isinstance(dtype, type) and dtype in _OF_PYTHON:
        return _OF_PYTHON[dtype]
    name = str(dtype).rpartition(".")[2]  # "torch.float32"
    if dtype is not None and not isinstance(dtype, str):  # NumPy takes None and "float" for float64
        with contextlib.suppress(TypeError):
            name = np.dtype(dtype).name
    if name not in _CARRIERS:
        expected = f"expected one of {', '.join(DTYPES)}, or float, int, bool, complex"
        raise GeneratorError(f"dtype={dtype!r} at {location(call_site())}: {expected}{nearest(dtype, DTYPES)}")
    return name


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy dtype that stores `dtype` (its carrier): the same one, but float32 for ``bfloat16``."""
    return _CARRIERS[dtype_name(dtype)]


class Limits(NamedTuple):
    """The least and the greatest number of an integral dtype, and its number of bits."""

    min: int
    max: int
    bits: int


@lru_cache(maxsize=len(INTEGRAL))
def limits_of(name: str) -> Limits:
    """Return the limits of integral dtype `name`. They are cached, because NumPy computes them on each call."""
    about = np.iinfo(_CARRIERS[name])
    return Limits(int(about.min), int(about.max), about.bits)


def part_dtype(name: str) -> str:
    """Return the dtype of the real part of `name`; `name` itself if it is not complex."""
    return _PARTS.get(name, name)


def round_bfloat16(values: Array) -> Array:
    """Return float32 `values` rounded to bfloat16 (to nearest, ties to even) as float32. NaN and -0.0 are kept."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    # Add half of the last kept place, less one if the kept part is already even: the carry rounds up.
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    # A NaN with only low bits set would become infinity.
    rounded = np.where(np.isnan(values), np.uint32(0x7FC00000), rounded).astype(np.uint32)
    return rounded.view(np.float32).reshape(np.shape(values))


def cast(values: Array, name: str) -> Array:
    """Return `values` in the carrier of dtype `name`, rounded if necessary."""
    if name == "bfloat16":
        return round_bfloat16(values)
    return values.astype(_CARRIERS[name], copy=False)


@lru_cache(maxsize=1024)
def float_range(name: str, low: float, high: float) -> tuple[float, float]:
    """Return the least and the greatest value of floating dtype `name` in [low, high).

    Raises `BadBounds` if there is none: for ``[0.1, 0.1)``, or if the bounds are closer than neighbouring values.
    """
    if not low < high or not (math.isfinite(low) and math.isfinite(high)):
        raise BadBounds(f"expected finite low < high, got low={low!r}, high={high!r}")
    least, greatest = _nearest(name, low), _nearest(name, high)
    if least < low:
        least = _next(name, least, 1)
    if greatest >= high:
        greatest = _next(name, greatest, -1)
    if not least <= greatest or not (math.isfinite(least) and math.isfinite(greatest)):
        raise BadBounds(f"expected a {name} in [low, high), but there is none in [{low!r}, {high!r})")
    return least, greatest


def _nearest(name: str, value: float) -> float:
    with np.errstate(over="ignore"):
        return float(cast(np.asarray(value, dtype=np.float64).astype(_CARRIERS[name]), name))


def _next(name: str, value: float, direction: int) -> float:
    """Return the neighbour in `direction` (1 or -1) of `value`, a value of dtype `name`."""
    if name != "bfloat16":
        return float(np.nextafter(_CARRIERS[name].type(value), _CARRIERS[name].type(direction * math.inf)))
    bits = int(np.float32(value).view(np.uint32)) >> 16
    if bits & 0x7FFF == 0:
        bits = 1 if direction > 0 else 0x8001
    else:
        bits += direction if bits < 0x8000 else -direction
    return float(np.uint32(bits << 16).view(np.float32))


@lru_cache(maxsize=1024)
def integer_range(name: str, low: float, high: float) -> tuple[int, int]:
    """Return ``(first, end)`` so that ``range(first, end)`` contains the integers in [low, high).

    Raises `BadBounds` if there are none, or if one of them does not fit into integral dtype `name`.
    """
    if not low < high or not (math.isfinite(low) and math.isfinite(high)):
        raise BadBounds(f"expected finite low < high, got low={low!r}, high={high!r}")
    first, end = math.ceil(low), math.ceil(high)
    if first >= end:
        raise BadBounds(f"expected a whole number in [low, high), but there is none in [{low!r}, {high!r})")
    limits = limits_of(name)
    if first < limits.min or end - 1 > limits.max:
        raise BadBounds(
            f"expected bounds within {name}, which holds {limits.min} to {limits.max}, got low={low!r}, high={high!r}"
        )
    return first, end
