"""Calls programs at points where results and gradients are special: zeros, limits, ties, empty inputs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from autotest.comparison.elementwise import Values
from autotest.program import Program, Ref, leaves
from autotest.sources.mutated_arguments import at_bounds
from autotest.sources.mutated_inputs import Mutation, inputs, no_gradients, with_array
from autotest.sources.mutated_numbers import BEYOND
from autotest.sources.mutated_shapes import each_large, last_cut, many_dimensions, no_rows, scalars

#: Computes the new values of an input from the old ones and the input's position.
_Compute = Callable[[Values, int], Values]


class Point(NamedTuple):
    """A change to the values of some of the numeric inputs."""

    compute: _Compute
    #: Which of the inputs it changes.
    inputs: slice = slice(None)
    #: Minimum number of inputs.
    least: int = 1


def _limits(data: Values, place: int) -> Values:
    """Return `data` with limits of its dtype. Different limits meet across inputs, such as greatest and smallest."""
    limits: tuple[float, ...]
    if data.dtype.kind == "f":
        # The last one is subnormal: not zero, but its reciprocal overflows.
        great, small = float(np.finfo(data.dtype).max), float(np.finfo(data.dtype).smallest_subnormal) * 64
        limits = (great, -great, 1.0, small) if place == 0 else (small, great, great, -great)
    else:
        least, greatest = np.iinfo(data.dtype).min, np.iinfo(data.dtype).max
        # The least integer divided by -1 overflows and crashes torch itself, so these two never meet in this order.
        limits = (least, greatest, -1, 0) if place == 0 else (greatest, 1, least, greatest)
        if data.dtype.name in BEYOND:
            # Two integers that are different but become the same float.
            beyond = BEYOND[data.dtype.name]
            limits += (beyond + 1, beyond) if place == 0 else (beyond, beyond + 1)
    return _holding(data, *limits)


#: Changes to all floating inputs, or to all integer inputs if there are no floating ones.
POINTS: Final[Mapping[str, Point]] = {
    "zeros": Point(lambda data, _: np.zeros_like(data)),
    "zeros in the last": Point(lambda data, _: np.zeros_like(data), slice(-1, None), least=2),
    "limits that meet": Point(_limits),
}
#: Additional changes to floating inputs.
FRACTIONAL: Final[Mapping[str, Point]] = {
    "all alike": Point(lambda data, _: np.full_like(data, 0.5)),
    "a NaN": Point(lambda data, _: _holding(data, float("nan")), slice(1)),
    "NaN and infinity that meet": Point(lambda data, _: _holding(data, float("nan"), float("inf"))),
}
#: Sets all elements of the first floating input to minus infinity, so that the least of all is no finite number.
_LEAST: Final = Point(lambda data, _: np.full_like(data, -np.inf), slice(1))
#: dtype -> dtypes for one input while the other inputs, or the module, keep theirs.
_OTHER: Final[Mapping[str, tuple[str, ...]]] = {
    "float32": ("float64", "int32"),
    "float64": ("float32",),
    "int64": ("int32", "float32"),
    "int32": ("int64",),
}
#: Changes to shapes. Few samples of modules and of other operators have inputs that are empty or 0-dimensional.
SHAPES: Final[Mapping[str, Mutation]] = {
    "no rows": no_rows,
    "no dimensions": scalars,
    "the last cut to one": last_cut,
    "six dimensions": many_dimensions,
}
#: Maximum number of programs for each of `SHAPES`, for minus infinity and for integers at bounds. It is low, because an
#: operator that crashes for one such program crashes for all.
_SHAPED: Final = 2
#: Maximum number of programs for each of the other changes.
_CALLS: Final = 16
#: Elements of two vector registers: 16 float32 values of 512 bits each.
_SEVERAL: Final = 32


def special_points(programs: Sequence[Program]) -> Iterator[tuple[str, Program]]:
    """Yield named programs at each kind of point, from some of `programs` that together have all their arguments."""
    unlike = _unlike(programs)
    for program in unlike:
        yield from _of_values(program)
        yield from _of_another_dtype(program)
    for program in [one for one in unlike if _holding_numbers(one, "f")][:_SHAPED]:
        yield "minus infinity only", _at(_LEAST, program, _holding_numbers(program, "f"))
    for name, change in SHAPES.items():
        changed = [one for program in unlike if (one := change(program, random.Random(0))) is not None][:_SHAPED]
        # Without gradients, frameworks run other code.
        yield from (
            (name, no_gradients(one, random.Random(0)) or one if place else one) for place, one in enumerate(changed)
        )
    for program in unlike[:1]:
        yield from (("a large size", one) for one in each_large(program))
    bounded = [list(at_bounds(program)) for program in unlike]
    for several in itertools.islice(filter(None, bounded), _SHAPED):
        yield from (("a whole number at its bounds", one) for one in several)


def _of_values(program: Program) -> Iterator[tuple[str, Program]]:
    fractions = _holding_numbers(program, "f")
    numbers = fractions or _holding_numbers(program, "i")
    for name, point in {**POINTS, **(FRACTIONAL if fractions else {})}.items():
        if len(numbers) < point.least:
            continue
        yield name, _at(point, program, numbers)


def _at(point: Point, program: Program, numbers: Sequence[int]) -> Program:
    """Return `program` with the change `point` applied to those of its inputs `numbers` that it selects."""
    changed = program
    for place, index in [*enumerate(numbers)][point.inputs]:
        with np.errstate(all="ignore"):
            changed = with_array(changed, index, point.compute(program.arrays[index].data, place))
    return changed


def _of_another_dtype(program: Program) -> Iterator[tuple[str, Program]]:
    """Yield programs with the first or last numeric input of another dtype than the other inputs or the module."""
    numbers = [index for index in _holding_numbers(program, "fi") if program.arrays[index].dtype in _OTHER]
    alone = not any(call.kind == "load_state" for call in program.calls)
    if len(numbers) < 1 + alone:
        return
    for index in dict.fromkeys((numbers[0], numbers[-1])):
        array = program.arrays[index]
        for other in _OTHER[array.dtype]:
            with np.errstate(all="ignore"):
                yield f"{other} beside {array.dtype}", with_array(program, index, array.data.astype(other), other)


def _unlike(programs: Sequence[Program]) -> list[Program]:
    """Return the programs with an argument that no earlier one has, if they have non-empty numeric inputs.

    Programs with larger tensors come first: vectorized code computes most elements, and other code the remaining few.
    """
    seen: set[str] = set()
    found: list[Program] = []
    for program in sorted(programs, key=_is_small):
        numbers = _holding_numbers(program, "fi")
        if len(found) < _CALLS and numbers:
            # Inputs of the same shape run other code than inputs that are broadcast.
            alike = len({program.arrays[index].data.shape for index in numbers}) == 1
            features = {*_arguments(program), f"shapes alike: {alike}"}
            if not features <= seen:
                seen |= features
                found.append(program)
    return found


def _is_small(program: Program) -> bool:
    sizes = [program.arrays[index].data.size for index in _holding_numbers(program, "fi")]
    return not sizes or max(sizes) < _SEVERAL


def _arguments(program: Program) -> Iterator[str]:
    for call in program.calls:
        if call.kind in ("tensor", "load_state"):
            continue
        given = [*enumerate(call.args), *call.kwargs.items()]
        yield f"{call.target} {[place for place, _ in given]}"
        for place, value in given:
            if not any(type(item) is Ref for item in leaves(value)):
                yield f"{call.target} {place} {value!r}"


def _holding_numbers(program: Program, kinds: str) -> list[int]:
    """Return the non-empty inputs whose NumPy dtype is of one of `kinds`."""
    found = [(index, program.arrays[index].data) for index in inputs(program)]
    return [index for index, data in found if data.dtype.kind in kinds and data.size]


def _holding(data: Values, *values: float) -> Values:
    """Return `data` with `values` from the middle on, as far as they fit."""
    changed = np.array(data)
    middle = changed.reshape(-1)[data.size // 2 :]
    middle[: len(values)] = values[: middle.size]
    return changed
