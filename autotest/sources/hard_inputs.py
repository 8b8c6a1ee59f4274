"""Gives programs inputs that are numerically hard: cancellation, long sums, near zero, near overflow."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from autotest.comparison.elementwise import Values
from autotest.program import Program
from autotest.sources.mutated_inputs import has_single_elements, inputs, with_array
from autotest.sources.mutated_shapes import resized

#: Changes to the values of every floating input, computed in double precision.
PLAN: Final[Mapping[str, Callable[[Values], Values]]] = {
    "cancellation": lambda data: data + 1e3 * _signs(data),
    "almost equal": lambda data: 1.0 + 1e-4 * data,
    "almost zero": lambda data: data * 1e-6,
    "almost nothing": lambda data: data * 1e-30,
    "of many sizes": lambda data: data * 10.0 ** (np.arange(data.size).reshape(data.shape) % 9 - 4),
    "about multiples of pi": lambda data: np.rint(data) * np.pi + 1e-3 * data,
    "large": lambda data: _scaled(data, 80.0),
    "almost overflow": lambda data: _scaled(data, 1e38),
    "whose squares almost overflow": lambda data: _scaled(data, 1e19),
}
#: Length of the dimensions of long sums.
_LONG: Final = 2049


def hard_inputs(programs: Sequence[Program], count: int) -> Iterator[tuple[str, Program]]:
    """Yield at most `count` programs on hard inputs, each with the name of the change.

    All changes are applied to one program, then to the next. Programs with several elements come first: with one
    element, nothing is summed, and values of different magnitudes hardly meet.
    """
    made = [
        (name, hard)
        for program in sorted(programs, key=has_single_elements)
        for name, hard in [*((name, _computed(program, compute)) for name, compute in PLAN.items()), _long(program)]
        if hard is not None
    ]
    yield from made[:count]


def _computed(program: Program, compute: Callable[[Values], Values]) -> Program | None:
    changed = program
    for index in inputs(program):
        data = program.arrays[index].data
        if data.dtype.kind == "f" and data.size:
            with np.errstate(all="ignore"):
                changed = with_array(changed, index, compute(data.astype(np.float64)).astype(data.dtype))
    return None if changed is program else changed


def _long(program: Program) -> tuple[str, Program | None]:
    return "long sums", resized(program, random.Random(0), lambda size: _LONG, lambda size: 1 < size < _LONG)


def _signs(data: Values) -> Values:
    return (1.0 - 2.0 * (np.arange(data.size) % 2)).reshape(data.shape)


def _scaled(data: Values, greatest: float) -> Values:
    largest = np.abs(data[np.isfinite(data)]).max(initial=0.0)
    return data * (greatest / largest) if largest else data
