"""Programs on larger inputs, for the numeric check: a fault in one element of many must have a chance to show."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping

import numpy as np

from autotest.emission import names
from autotest.frameworks import Framework
from autotest.gradients.programs import ProgramFunction, differentiated
from autotest.program import Array, Program, leaves, map_operand
from autotest.program.rewriting import with_arrays

#: An input of this many elements shows a fault in one of them.
ENOUGH = 100
#: Elements of all inputs together, and of all outputs, at most: a gradient that fails is looked at one by one.
MOST = 5000
#: Programs that are tried at most.
TRIES = 30

#: Shapes of what is varied, by name.
InputShapes = Mapping[str, tuple[int, ...]]


@dataclasses.dataclass(frozen=True, slots=True)
class LargerInputs:
    """A program with the same calls on larger arrays, and what became of each input."""

    program: Program
    before: InputShapes
    after: InputShapes

    def __str__(self) -> str:
        return ", ".join(
            f"{name} {self.before[name]} -> {shape}" for name, shape in self.after.items() if shape != self.before[name]
        )


def below_enough(shapes: InputShapes) -> list[str]:
    """The inputs of fewer than `ENOUGH` elements."""
    return [name for name, shape in shapes.items() if math.prod(shape) < ENOUGH]


def with_larger_inputs(program: Program, framework: Framework) -> LargerInputs | None:
    """`program` on inputs as large as `framework` accepts them up to `ENOUGH`; None when it has nothing to vary.

    The contents stay what they were where they were; new elements lie between old ones.
    """
    start = _measured(program, framework)
    if start is None or not start.shapes:
        return None
    best, at, tries = program, start, 0
    for name in start.shapes:
        if math.prod(at.shapes[name]) >= ENOUGH:
            continue
        for candidate in _candidates(best, at.shapes[name]):
            if tries >= TRIES:
                break
            tries += 1
            found = _measured(candidate, framework)
            if found is not None and math.prod(found.shapes.get(name, ())) >= ENOUGH and _fits(found, start):
                best, at = candidate, found
                break
    return LargerInputs(best, start.shapes, at.shapes)


@dataclasses.dataclass(frozen=True, slots=True)
class _Measured:
    shapes: InputShapes
    #: Elements of all outputs, and the greatest magnitude among them.
    elements: int
    magnitude: float


def _measured(program: Program, framework: Framework) -> _Measured | None:
    """What `framework` makes of `program` in double precision; None where it refuses."""
    inputs = [call.args[0].index for call in program.inputs() if call.note != "cotangent"]
    if sum(program.arrays[index].data.size for index in inputs) > MOST:
        return None
    try:
        wide, push, roots, back = differentiated(program)
        runner = ProgramFunction(wide, push, roots, framework)
        outputs = framework.values(runner())
    except Exception:  # noqa: BLE001 - the framework's, whatever it is
        return None
    own = names(program)
    shapes = {own[back[leaf.slot]] + leaf.suffix: framework.shape(leaf.tensor) for leaf in runner.leaves}
    with np.errstate(all="ignore"):
        magnitude = max((float(np.abs(one.data).max(initial=0.0)) for one in outputs), default=0.0)
    return _Measured(shapes, sum(one.data.size for one in outputs), magnitude)


def _fits(found: _Measured, start: _Measured) -> bool:
    """Whether differences mean as much as before: what grows with the inputs drowns its derivatives in rounding."""
    if found.shapes.keys() != start.shapes.keys():  # a number that was raised was one of layers
        return False
    grown = all(math.prod(shape) >= math.prod(start.shapes[name]) for name, shape in found.shapes.items())
    sober = not math.isfinite(start.magnitude) or found.magnitude <= max(100.0, 10 * start.magnitude)
    return grown and sober and 0 < found.elements <= MOST


def _candidates(program: Program, shape: tuple[int, ...]) -> Iterator[Program]:
    """`program` with one size of `shape` raised so far that it holds `ENOUGH`: the leading one first, a 1 last."""
    elements = math.prod(shape)
    if not elements:
        return
    for size in sorted(dict.fromkeys(shape), key=lambda size: size == 1):
        new = math.ceil(size * (ENOUGH / elements) ** (1 / shape.count(size)))
        alone = -(-size * ENOUGH // elements)
        together = _grown(program, size, new)
        yield from together
        for axis in dict.fromkeys((shape.index(size), shape.index(size) - len(shape))):
            yield from _grown(program, size, alone, axis)
        for larger in together:
            yield from _numbered(larger, size, new)


def _grown(program: Program, size: int, new: int, only: int | None = None) -> list[Program]:
    """Every dimension of `size` in an array made `new`, or of axis `only` alone; nothing where that is too much."""
    arrays = []
    for index, array in enumerate(program.arrays):
        shape = list(array.data.shape)
        axes = range(len(shape)) if only is None else [only] if -len(shape) <= only < len(shape) else []
        for axis in axes:
            if shape[axis] == size:
                shape[axis] = new
        if math.prod(shape) > max(MOST, array.data.size):
            return []
        same = tuple(shape) == array.data.shape
        arrays.append(array if same else Array(_filled(array, tuple(shape), index), array.dtype))
    return [with_arrays(program, arrays)]


def _filled(array: Array, shape: tuple[int, ...], seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    """`array` in the first corner of `shape`, and repeated beyond it.

    What is repeated moves a little towards another element, for no two to be alike where a maximum is asked for.
    Whole numbers and truth values are repeated as they are: an index stays one.
    """
    data = array.data
    for axis, size in enumerate(shape):
        data = np.take(data, np.arange(size) % data.shape[axis], axis=axis)
    if data.dtype.kind not in "fc":
        return data
    drawn = np.random.default_rng(seed)
    share = drawn.uniform(0.1, 0.4, shape)
    with np.errstate(all="ignore"):
        other = drawn.permutation(data.reshape(-1)).reshape(shape)
        other = np.where(other == data, data.mean(), other)
        # Between a value and itself there is nothing: one that stands alone moves by a part of its own size.
        moved = data + share * np.where(other == data, -0.2 * data, other - data)
    moved[tuple(slice(0, size) for size in array.data.shape)] = array.data
    return np.asarray(moved, dtype=array.data.dtype)


def _numbered(program: Program, size: int, new: int) -> list[Program]:
    """`program` with the whole number `size` raised to `new` wherever a call says it, unless a call says it too often:
    what takes the numbers for sizes would make more than can be had.
    """

    def meant(item: object) -> bool:
        return type(item) is int and item == size

    def leaf(item: object) -> object:
        return new if meant(item) else item

    if any(new ** sum(map(meant, leaves((call.args, call.kwargs)))) > 10 * MOST for call in program.calls):
        return []
    calls = tuple(
        call
        if call.kind == "tensor" or call.target == "getitem"
        else call._replace(args=map_operand(call.args, leaf), kwargs=map_operand(call.kwargs, leaf))
        for call in program.calls
    )
    return [Program(calls, program.arrays, program.undefined)]


__all__ = ["ENOUGH", "LargerInputs", "below_enough", "with_larger_inputs"]
