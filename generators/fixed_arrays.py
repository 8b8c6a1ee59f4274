"""Draws an array of which a test leaves nothing but sizes to be drawn, without asking the plan for anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from generators.annotations import DIMENSION
from generators.arrays import Drawn, plain_dtype
from generators.contents import Spec, uniform
from generators.core import Generator
from generators.entropy import Bits
from generators.errors import GeneratorError
from generators.source import Source

_NUMBERS = (int, float)


def fixed_array(source: Source, ndim: Any, dims: Sequence[Any], dtype: Any, low: Any, high: Any) -> Drawn | None:
    """A contiguous array of uniform numbers, of rank `ndim`; None where something is open, or wrong.

    The choices are those that whoever asks the plan would make of the same arguments.
    """
    if type(low) not in _NUMBERS or type(high) not in _NUMBERS or type(ndim) is not int or not 0 <= ndim <= len(dims):
        return None
    try:
        name = plain_dtype(dtype, low, high, "uniform")
    except (GeneratorError, TypeError):
        return None
    if not name:
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
