"""Draws an array of which a test leaves only sizes open, without using the plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from generators.annotations import DIMENSION
from generators.arrays import Drawn
from generators.boundless_numbers import REACH
from generators.contents import Spec, array_from, uniform
from generators.core import Generator
from generators.dtypes import FLOATING, dtype_name
from generators.entropy import Bits
from generators.errors import GeneratorError
from generators.source import Source

_NUMBERS = (int, float)


def fixed_array(source: Source, ndim: Any, dims: Sequence[Any], dtype: Any, low: Any, high: Any) -> Drawn | None:
    """Return a contiguous array of uniform numbers of rank `ndim`, or None if an argument is open or not valid.

    Floating numbers without bounds are in [-`REACH`, `REACH`). The choices are the same as those that
    `explored_array` makes for the same arguments.
    """
    if type(ndim) is not int or not 0 <= ndim <= len(dims):
        return None
    unbounded = low is high is None
    if unbounded:
        low, high = -REACH, REACH
    elif type(low) not in _NUMBERS or type(high) not in _NUMBERS:
        return None
    try:
        name = _dtype_between(dtype, low, high)
    except (GeneratorError, TypeError):
        return None
    if not name or (unbounded and name not in FLOATING):  # the default range of integers depends on their number
        return None
    shape = []
    for size in dims[:ndim]:
        if type(size) is not int:
            if not isinstance(size, Generator):
                return None
            size = size.draw_in(source, DIMENSION)  # noqa: PLW2901 - what was drawn keeps its value for who asks next
            if type(size) is not int:
                return None
        if size < 0:
            return None
        shape.append(size)
    for size in dims[ndim:]:
        if size is not None:
            return None
    return Drawn(uniform(Bits(source.bits()), Spec(tuple(shape), name, low, high)), name)


@lru_cache(maxsize=64, typed=True)
def _dtype_between(dtype: str | type, low: float, high: float) -> str:
    """Return the name of `dtype`; empty if uniform numbers cannot be between these bounds in any dtype.

    Raises `GeneratorError` if `dtype` is unknown or has no value between the bounds.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        return ""
    name = dtype_name(dtype)
    array_from(Spec((), name, low, high), 0)  # raises if the dtype has no value between the bounds
    return name
