"""Changes the shapes of a program's tensors."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from autotest.program import Program
from autotest.sources.mutated_inputs import LARGEST, inputs, on_one, with_array

#: Rank of a tensor with many dimensions.
_MANY: Final = 6
#: Largest number of elements along one dimension that kernels process as one block.
_BLOCK: Final = 256
#: Largest number of elements that all inputs may broadcast to.
_LARGEST_TOGETHER: Final = 1 << 20


def resized(
    program: Program, source: random.Random, change: Callable[[int], int], fits: Callable[[int], bool]
) -> Program | None:
    """Change one size wherever an input has it: the inputs are cut or repeated along that dimension."""
    shapes = [program.arrays[index].data.shape for index in inputs(program)]
    sizes = sorted({length for shape in shapes for length in shape if fits(length)})
    if not sizes:
        return None
    old = source.choice(sizes)
    new = [tuple(change(old) if length == old else length for length in shape) for shape in shapes]
    if any(math.prod(shape) > LARGEST for shape in new) or _broadcast(new) > _LARGEST_TOGETHER:
        return None
    for index in inputs(program):
        data = program.arrays[index].data
        for dim, length in enumerate(data.shape):
            if length == old:
                data = np.take(data, np.arange(change(old)) % old, axis=dim)
        program = with_array(program, index, data)
    return program


def _broadcast(shapes: Sequence[tuple[int, ...]]) -> int:
    """Return the number of elements that the shapes broadcast to, whether they are compatible or not."""
    sizes = itertools.zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1)
    return math.prod(max(lengths) for lengths in sizes)


zero_size: Final = functools.partial(resized, change=lambda size: 0, fits=lambda size: size > 0)
size_one: Final = functools.partial(resized, change=lambda size: 1, fits=lambda size: size > 1)
another_size: Final = functools.partial(resized, change=lambda size: size + 1, fits=lambda size: size > 0)
#: Changes one size to more than one block.
large: Final = functools.partial(resized, change=lambda size: _BLOCK + 1, fits=lambda size: 0 < size <= _BLOCK)


def no_rows(program: Program, source: random.Random) -> Program | None:
    """Cut the first dimension to 0 in all inputs that share its size with the input of the highest rank."""
    shapes = [program.arrays[index].data.shape for index in inputs(program)]
    rank = max(map(len, shapes), default=0)
    rows = next((shape[0] for shape in shapes if rank and len(shape) == rank), 0)
    if not rows:
        return None
    for index in inputs(program):
        data = program.arrays[index].data
        if data.ndim and data.shape[0] == rows:
            program = with_array(program, index, data[:0])
    return program


def each_large(program: Program) -> Iterator[Program]:
    """Yield variants with one dimension of the first input, and of inputs of its shape, longer than a block."""
    alike = [index for index in inputs(program) if program.arrays[index].data.size]
    shape = program.arrays[alike[0]].data.shape if alike else ()
    for dim, old in enumerate(shape):
        if old >= _BLOCK or math.prod(shape) // old * (_BLOCK + 1) > LARGEST:
            continue
        made = program
        for index in alike:
            data = program.arrays[index].data
            if data.shape == shape:
                made = with_array(made, index, np.take(data, np.arange(_BLOCK + 1) % old, axis=dim))
        yield made


def last_cut(program: Program, source: random.Random) -> Program | None:
    """Cut the last of several inputs to size 1 along a dimension: it is broadcast, or does not fit."""
    several = inputs(program)
    data = program.arrays[several[-1]].data if len(several) > 1 else np.zeros(())
    dim = next((dim for dim, length in enumerate(data.shape) if length > 1), None)
    return None if dim is None else with_array(program, several[-1], np.take(data, [0], axis=dim))


#: Empties a single input, as an optional argument or an ``out=`` may be.
one_empty: Final = on_one(lambda array: array.data.size > 0, lambda data, _: data.reshape(-1)[:0])
scalar: Final = on_one(
    lambda array: array.data.ndim > 0 and array.data.size > 0, lambda data, _: data.reshape(-1)[0].reshape(())
)
more_dimensions: Final = on_one(lambda array: array.data.ndim < 8, lambda data, _: data[None])
fewer_dimensions: Final = on_one(lambda array: array.data.ndim > 0 and array.data.shape[0] > 0, lambda data, _: data[0])


def scalars(program: Program, source: random.Random) -> Program | None:
    """Make all inputs 0-dimensional."""
    changed = program
    for index in inputs(program):
        data = program.arrays[index].data
        if data.size == 0:
            return None
        if data.ndim:
            changed = with_array(changed, index, data.reshape(-1)[0].reshape(()))
    return None if changed is program else changed


def many_dimensions(program: Program, source: random.Random) -> Program | None:
    """Give the inputs of the highest rank six dimensions: kernels are often written for at most four or five."""
    rank = max((program.arrays[index].data.ndim for index in inputs(program)), default=0)
    if not 0 < rank < _MANY:
        return None
    for index in inputs(program):
        data = program.arrays[index].data
        if data.ndim == rank:
            shape = (2, *(1 for _ in range(_MANY - rank - 1)), *data.shape)
            program = with_array(program, index, np.broadcast_to(data, shape))
    return program
