"""Programs on larger inputs, for the numeric check: large enough to reveal an error in one element of many."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping

import numpy as np

from autotest.emission import names
from autotest.frameworks import Framework
from autotest.gradients.program_function import ProgramFunction, differentiated
from autotest.program import COTANGENT, Array, Program, leaves, map_call
from autotest.program.rewriting import with_arrays

#: Number of elements from which on an input is large enough to reveal an error in one of them.
ENOUGH = 100
#: Maximum number of elements of all inputs together, and of all outputs, because failing gradients are checked element
#: by element.
MOST = 5000
#: Maximum number of programs to try.
TRIES = 30

#: Name of an input -> its shape, for the inputs that are varied.
InputShapes = Mapping[str, tuple[int, ...]]


@dataclasses.dataclass(frozen=True, slots=True)
class LargerInputs:
    """A program with the same calls on larger arrays, and the old and new shapes of its inputs."""

    program: Program
    before: InputShapes
    after: InputShapes

    def __str__(self) -> str:
        return ", ".join(
            f"{name} {self.before[name]} -> {shape}" for name, shape in self.after.items() if shape != self.before[name]
        )


def too_small(shapes: InputShapes) -> list[str]:
    """Return the names of the inputs with fewer than `ENOUGH` elements."""
    return [name for name, shape in shapes.items() if math.prod(shape) < ENOUGH]


def with_larger_inputs(program: Program, framework: Framework) -> LargerInputs | None:
    """Return `program` with inputs of at least `ENOUGH` elements where `framework` accepts that.

    The result is None if the program has no input to vary. The old elements stay at their indices; the values of new
    elements are between old ones.
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
    #: Number of elements of all outputs, and the greatest magnitude among them.
    elements: int
    magnitude: float


def _measured(program: Program, framework: Framework) -> _Measured | None:
    """Run `program` in double precision and return sizes and magnitude, or None if it is too large or fails."""
    inputs = [call.args[0].index for call in program.inputs() if call.note != COTANGENT]
    if sum(program.arrays[index].data.size for index in inputs) > MOST:
        return None
    try:
        wide, push, roots, back = differentiated(program)
        runner = ProgramFunction(wide, push, roots, framework)
        outputs = framework.values(runner())
    except Exception:  # noqa: BLE001 - a framework may raise any exception
        return None
    own = names(program)
    shapes = {own[back[leaf.slot]] + leaf.suffix: framework.shape(leaf.tensor) for leaf in runner.leaves}
    with np.errstate(all="ignore"):
        magnitude = max((float(np.abs(one.data).max(initial=0.0)) for one in outputs), default=0.0)
    return _Measured(shapes, sum(one.data.size for one in outputs), magnitude)


def _fits(found: _Measured, start: _Measured) -> bool:
    """Return whether differences are as meaningful as before.

    If outputs grow much with the inputs, their rounding errors hide the derivatives.
    """
    if found.shapes.keys() != start.shapes.keys():  # a raised number was a number of layers
        return False
    grown = all(math.prod(shape) >= math.prod(start.shapes[name]) for name, shape in found.shapes.items())
    meaningful = not math.isfinite(start.magnitude) or found.magnitude <= max(100.0, 10 * start.magnitude)
    return grown and meaningful and 0 < found.elements <= MOST


def _candidates(program: Program, shape: tuple[int, ...]) -> Iterator[Program]:
    """Yield `program` with one size of `shape` raised so that it has `ENOUGH` elements: leading sizes first, 1 last."""
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
    """Return `program` with dimensions of `size` enlarged to `new` in all arrays; empty if an array gets too large.

    If `only` is given, only dimensions at that axis are enlarged.
    """
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
    """Return an array of `shape` with `array` in its first corner and repetitions of it elsewhere.

    Repeated floating elements are moved a little towards another element, so that no two are equal, which would be a
    tie in a maximum. Integers and booleans are repeated unchanged, so that an index stays valid.
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
        # If there is no other value to move towards, a value moves by a part of its own magnitude.
        moved = data + share * np.where(other == data, -0.2 * data, other - data)
    moved[tuple(slice(0, size) for size in array.data.shape)] = array.data
    return np.asarray(moved, dtype=array.data.dtype)


def _numbered(program: Program, size: int, new: int) -> list[Program]:
    """Return `program` with the integer `size` replaced by `new` in the operands of all calls.

    The result is empty if a call has this integer so often that a tensor of these sizes would be too large.
    """

    def meant(item: object) -> bool:
        return type(item) is int and item == size

    def leaf(item: object) -> object:
        return new if meant(item) else item

    if any(new ** sum(map(meant, leaves((call.args, call.kwargs)))) > 10 * MOST for call in program.calls):
        return []
    calls = tuple(
        call if call.kind == "tensor" or call.target == "getitem" else map_call(call, leaf) for call in program.calls
    )
    return [Program(calls, program.arrays, program.undefined)]
