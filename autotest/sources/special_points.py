"""Programs -> the same calls where results and gradients are special: at zero and limits, among equals, of nothing."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from autotest.program import Program, Ref, leaves
from autotest.sources.mutated_arguments import at_bounds
from autotest.sources.mutated_inputs import (
    BEYOND,
    Mutation,
    each_large,
    inputs,
    last_cut,
    many_dimensions,
    no_gradients,
    no_rows,
    scalars,
    with_array,
)

_Values = np.ndarray[Any, Any]
#: What the values of the input of this number become.
_Compute = Callable[[_Values, int], _Values]


class Point(NamedTuple):
    """One way to change the values of some of the inputs that hold numbers."""

    compute: _Compute
    #: Which of the inputs it changes, as a slice of them.
    inputs: slice = slice(None)
    #: How many of them there must be.
    least: int = 1


def _limits(data: _Values, place: int) -> _Values:
    """The limits of a dtype, such that those of several inputs meet one another: the greatest the smallest, too."""
    limits: tuple[float, ...]
    if data.dtype.kind == "f":
        # The last is subnormal: a number that is not zero, and whose reciprocal overflows.
        great, small = float(np.finfo(data.dtype).max), float(np.finfo(data.dtype).smallest_subnormal) * 64
        limits = (great, -great, 1.0, small) if place == 0 else (small, great, great, -great)
    else:
        least, greatest = np.iinfo(data.dtype).min, np.iinfo(data.dtype).max
        # The least by -1 is no int, and ends torch itself.
        limits = (least, greatest, -1, 0) if place == 0 else (greatest, 1, least, greatest)
        if data.dtype.name in BEYOND:
            # One and the same fraction, and not the same number.
            beyond = BEYOND[data.dtype.name]
            limits += (beyond + 1, beyond) if place == 0 else (beyond, beyond + 1)
    return _holding(data, *limits)


#: What becomes of inputs that hold fractions, or of all that hold numbers where none does.
POINTS: Final[Mapping[str, Point]] = {
    "zeros": Point(lambda data, _: np.zeros_like(data)),
    "zeros in the last": Point(lambda data, _: np.zeros_like(data), slice(-1, None), least=2),
    "limits that meet": Point(_limits),
}
#: What becomes of fractions besides.
FRACTIONAL: Final[Mapping[str, Point]] = {
    "all alike": Point(lambda data, _: np.full_like(data, 0.5)),
    "a NaN": Point(lambda data, _: _holding(data, float("nan")), slice(1)),
    "NaN and infinity that meet": Point(lambda data, _: _holding(data, float("nan"), float("inf"))),
}
#: What becomes of all fractions of the first input of few calls: what is the least of all is no number.
_LEAST: Final = Point(lambda data, _: np.full_like(data, -np.inf), slice(1))
#: What one input is of where the others, or a module, are of a dtype: another precision, whole numbers or fractions.
_OTHER: Final[Mapping[str, tuple[str, ...]]] = {
    "float32": ("float64", "int32"),
    "float64": ("float32",),
    "int64": ("int32", "float32"),
    "int32": ("int64",),
}
#: The same for shapes. That no element is there, or no dimension, few samples of modules and of others think of.
SHAPES: Final[Mapping[str, Mutation]] = {
    "no rows": no_rows,
    "no dimensions": scalars,
    "the last cut to one": last_cut,
    "six dimensions": many_dimensions,
}
#: Calls at most that meet these, and whole numbers at their bounds: what dies of one of them dies in all.
_SHAPED: Final = 2
#: Calls at most that meet each of the others.
_CALLS: Final = 16
#: Elements that a vector unit may compute at once, twice: 16 numbers of single precision in 512 bits.
_SEVERAL: Final = 32


def special_points(programs: Sequence[Program]) -> Iterator[tuple[str, Program]]:
    """Each kind of point for some of `programs`, such that every argument which one of them gives is among these."""
    unlike = _unlike(programs)
    for program in unlike:
        yield from _of_values(program)
        yield from _of_another_dtype(program)
    for program in [one for one in unlike if _holding_numbers(one, "f")][:_SHAPED]:
        yield "minus infinity only", _at(_LEAST, program, _holding_numbers(program, "f"))
    for name, change in SHAPES.items():
        changed = [one for program in unlike if (one := change(program, random.Random(0))) is not None][:_SHAPED]
        # For inference other code is called.
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
    """`program` with those of its inputs `numbers` at `point` that it changes."""
    changed = program
    for place, index in [*enumerate(numbers)][point.inputs]:
        with np.errstate(all="ignore"):
            changed = with_array(changed, index, point.compute(program.arrays[index].data, place))
    return changed


def _of_another_dtype(program: Program) -> Iterator[tuple[str, Program]]:
    """The first input, and the last, of another dtype than what it meets: other inputs, or a module's state."""
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
    """Those with an argument that none before them gives, as far as they have inputs of numbers with elements.

    Tensors of some size come first: what computes several elements at once is not what computes the last few.
    """
    seen: set[str] = set()
    found: list[Program] = []
    for program in sorted(programs, key=_is_small):
        numbers = _holding_numbers(program, "fi")
        if len(found) < _CALLS and numbers:
            # Where shapes are alike other code computes than where they are broadcast.
            alike = len({program.arrays[index].data.shape for index in numbers}) == 1
            told = {*_arguments(program), f"shapes alike: {alike}"}
            if not told <= seen:
                seen |= told
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
    """The inputs with elements whose NumPy dtype is of one of `kinds`."""
    found = [(index, program.arrays[index].data) for index in inputs(program)]
    return [index for index, data in found if data.dtype.kind in kinds and data.size]


def _holding(data: _Values, *values: float) -> _Values:
    """`data` with `values` from the middle on, as far as there is room."""
    changed = np.array(data)
    middle = changed.reshape(-1)[data.size // 2 :]
    middle[: len(values)] = values[: middle.size]
    return changed


__all__ = ["FRACTIONAL", "POINTS", "special_points"]
