"""Programs -> the same calls where gradients and comparisons are special: at zero, among equals, beside NaN."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from autotest.program import Program, Ref, leaves
from autotest.sources.mutated_inputs import inputs, with_array

_Values = np.ndarray[Any, Any]
#: What the values of the first floating input become, or of all of them.
POINTS: Final[Mapping[str, tuple[Callable[[_Values], _Values], bool]]] = {
    "zeros": (np.zeros_like, True),
    "all alike": (lambda data: np.full_like(data, 0.5), True),
    "a NaN": (lambda data: _holding(data, float("nan")), False),
    "NaN and infinity that meet": (lambda data: _holding(data, float("nan"), float("inf")), True),
}
#: Calls at most that meet each of these.
_CALLS: Final = 16


def special_points(programs: Sequence[Program]) -> Iterator[tuple[str, Program]]:
    """Each kind of point for some of `programs`, such that every argument which one of them gives is among these."""
    for program in _unlike(programs):
        floating = _floating(program)
        for name, (compute, everywhere) in POINTS.items():
            changed = program
            for index in floating if everywhere else floating[:1]:
                changed = with_array(changed, index, compute(program.arrays[index].data))
            yield name, changed


def _unlike(programs: Sequence[Program]) -> list[Program]:
    """Those with an argument that none before them gives, as far as they have floating inputs with elements."""
    seen: set[str] = set()
    found: list[Program] = []
    for program in programs:
        if len(found) < _CALLS and _floating(program):
            told = set(_arguments(program))
            if not told <= seen:
                seen |= told
                found.append(program)
    return found


def _arguments(program: Program) -> Iterator[str]:
    for call in program.calls:
        if call.kind in ("tensor", "load_state"):
            continue
        given = [*enumerate(call.args), *call.kwargs.items()]
        yield f"{call.target} {[place for place, _ in given]}"
        for place, value in given:
            if not any(type(item) is Ref for item in leaves(value)):
                yield f"{call.target} {place} {value!r}"


def _floating(program: Program) -> list[int]:
    found = [(index, program.arrays[index].data) for index in inputs(program)]
    return [index for index, data in found if data.dtype.kind == "f" and data.size]


def _holding(data: _Values, *values: float) -> _Values:
    """`data` with `values` from the middle on, as far as there is room."""
    changed = np.array(data)
    middle = changed.reshape(-1)[data.size // 2 :]
    middle[: len(values)] = values[: middle.size]
    return changed


__all__ = ["POINTS", "special_points"]
