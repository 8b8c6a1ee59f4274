"""Changes the tensors of a program: shapes, dtypes and values."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from autotest.program import Array, Call, Program, Ref, leaves
from autotest.program.semantics import in_place

#: Elements of the largest array that is changed. Larger arrays show no more and take longer.
_LARGEST: Final = 1 << 14
#: Rank of a tensor with many dimensions.
_MANY: Final = 6
#: Largest number of elements along one dimension that kernels process as one block.
_BLOCK: Final = 256
#: Largest number of elements that all inputs may broadcast to.
_LARGEST_TOGETHER: Final = 1 << 20

Mutation = Callable[[Program, random.Random], "Program | None"]


def with_array(program: Program, index: int, data: np.ndarray[Any, Any], dtype: str | None = None) -> Program:
    """Return `program` with `data` as its captured array `index`."""
    arrays = list(program.arrays)
    arrays[index] = Array(np.ascontiguousarray(data).reshape(data.shape), dtype or arrays[index].dtype)
    calls = [
        call._replace(target=arrays[index].dtype, kwargs={**call.kwargs, "requires_grad": _differentiable(call, dtype)})
        if call.kind == "tensor" and call.args[0].index == index
        else call
        for call in program.calls
    ]
    return dataclasses.replace(program, calls=tuple(calls), arrays=tuple(arrays))


def _differentiable(call: Call, dtype: str | None) -> bool:
    wanted: bool = call.kwargs["requires_grad"]
    return wanted and (dtype is None or dtype.startswith(("float", "bfloat", "complex")))


def inputs(program: Program) -> list[int]:
    """Return the indices of captured arrays that become tensors and are small enough to be changed."""
    found = [call.args[0].index for call in program.calls if call.kind == "tensor"]
    return [index for index in found if program.arrays[index].data.size <= _LARGEST]


def has_single_elements(program: Program) -> bool:
    """Whether no small input has more than one element."""
    return max((program.arrays[index].data.size for index in inputs(program)), default=0) <= 1


def one(program: Program, source: random.Random, fits: Callable[[Array], bool]) -> int | None:
    """Return one of the small inputs that `fits`; None if there is none."""
    fitting = [index for index in inputs(program) if fits(program.arrays[index])]
    return source.choice(fitting) if fitting else None


# -- shapes -----------------------------------------------------------------------------------------------------


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
    if any(math.prod(shape) > _LARGEST for shape in new) or _broadcast(new) > _LARGEST_TOGETHER:
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


def zero_size(program: Program, source: random.Random) -> Program | None:
    return resized(program, source, lambda size: 0, lambda size: size > 0)


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


def size_one(program: Program, source: random.Random) -> Program | None:
    return resized(program, source, lambda size: 1, lambda size: size > 1)


def another_size(program: Program, source: random.Random) -> Program | None:
    return resized(program, source, lambda size: size + 1, lambda size: size > 0)


def large(program: Program, source: random.Random) -> Program | None:
    """Change one size to more than one block."""
    return resized(program, source, lambda size: _BLOCK + 1, lambda size: 0 < size <= _BLOCK)


def each_large(program: Program) -> Iterator[Program]:
    """Yield variants with one dimension of the first input, and of inputs of its shape, longer than a block."""
    alike = [index for index in inputs(program) if program.arrays[index].data.size]
    shape = program.arrays[alike[0]].data.shape if alike else ()
    for dim, old in enumerate(shape):
        if old >= _BLOCK or math.prod(shape) // old * (_BLOCK + 1) > _LARGEST:
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


def one_empty(program: Program, source: random.Random) -> Program | None:
    """Empty a single input, as an optional argument or an ``out=`` may be."""
    index = one(program, source, lambda array: array.data.size > 0)
    return None if index is None else with_array(program, index, program.arrays[index].data.reshape(-1)[:0])


def scalar(program: Program, source: random.Random) -> Program | None:
    index = one(program, source, lambda array: array.data.ndim > 0 and array.data.size > 0)
    return None if index is None else with_array(program, index, program.arrays[index].data.reshape(-1)[0].reshape(()))


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


def more_dimensions(program: Program, source: random.Random) -> Program | None:
    index = one(program, source, lambda array: array.data.ndim < 8)
    return None if index is None else with_array(program, index, program.arrays[index].data[None])


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


def fewer_dimensions(program: Program, source: random.Random) -> Program | None:
    index = one(program, source, lambda array: array.data.ndim > 0 and array.data.shape[0] > 0)
    return None if index is None else with_array(program, index, program.arrays[index].data[0])


# -- dtypes -----------------------------------------------------------------------------------------------------

_OTHER_DTYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "float32": ("float64", "float16", "int64", "bool", "int32"),
    "float64": ("float32", "int32"),
    "int64": ("int32", "float32", "uint8", "bool"),
    "int32": ("int64", "float32"),
    "bool": ("int64", "float32", "uint8"),
}


def _cast(program: Program, index: int, dtype: str) -> Program:
    with np.errstate(all="ignore"):
        return with_array(program, index, program.arrays[index].data.astype(dtype), dtype)


def one_dtype(program: Program, source: random.Random) -> Program | None:
    index = one(program, source, lambda array: array.dtype in _OTHER_DTYPES)
    if index is None:
        return None
    return _cast(program, index, source.choice(_OTHER_DTYPES[program.arrays[index].dtype]))


def all_dtypes(program: Program, source: random.Random) -> Program | None:
    first = one(program, source, lambda array: array.dtype in _OTHER_DTYPES)
    if first is None:
        return None
    old = program.arrays[first].dtype
    new = source.choice(_OTHER_DTYPES[old])
    for index in inputs(program):
        if program.arrays[index].dtype == old:
            program = _cast(program, index, new)
    return program


def with_output_dtype(dtype: str) -> Mutation:
    """Return a mutation that gives another dtype to the tensor that the last call writes into."""

    def mutated(program: Program, source: random.Random) -> Program | None:
        last = program.calls[-1]
        written = {leaf.slot for leaf in leaves(last.kwargs.get("out")) if type(leaf) is Ref}
        if not written and in_place(last) and last.args and type(last.args[0]) is Ref:
            copied = program.calls[last.args[0].slot]
            written = {copied.args[0].slot if copied.target == "clone" else copied.slot}
        places = [call.args[0].index for call in program.inputs() if call.slot in written and call.target != dtype]
        return _cast(program, source.choice(places), dtype) if places else None

    return mutated


#: dtype -> magnitude above which floats do not represent all its integers: float64 for int64, float32 for int32.
BEYOND: Final[Mapping[str, int]] = {"int64": 1 << 53, "int32": 1 << 24}

# -- values -----------------------------------------------------------------------------------------------------


def _is_floating(array: Array) -> bool:
    return array.data.dtype.kind == "f" and array.data.size > 0


def special(values: tuple[float, ...], *, everywhere: bool = False) -> Mutation:
    """Return a mutation that sets one element of an input, or all elements, to one of `values`."""

    def mutated(program: Program, source: random.Random) -> Program | None:
        index = one(program, source, _is_floating)
        if index is None:
            return None
        data = np.array(program.arrays[index].data)
        with np.errstate(all="ignore"):
            data.reshape(-1)[slice(None) if everywhere else source.randrange(data.size)] = source.choice(values)
        return with_array(program, index, data)

    return mutated


#: Special values with special results in pairs: comparisons, differences, products and quotients.
_MEETING: Final = (float("nan"), float("inf"), float("-inf"), 0.0)


def meeting(program: Program, source: random.Random) -> Program | None:
    """Put the same special values at the start of several inputs, where most operators combine them."""
    chosen = [index for index in inputs(program) if _is_floating(program.arrays[index])]
    if len(chosen) < 2:
        return None
    first = source.randrange(len(_MEETING))
    values = (*_MEETING[first:], *_MEETING[:first])
    for index in chosen:
        data = np.array(program.arrays[index].data)
        data.reshape(-1)[: len(values)] = values[: data.size]
        program = with_array(program, index, data)
    return program


def computed(compute: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]], kinds: str = "f") -> Mutation:
    """Return a mutation that computes all values of an input from the old ones."""

    def mutated(program: Program, source: random.Random) -> Program | None:
        index = one(program, source, lambda array: array.data.dtype.kind in kinds and array.data.size > 0)
        if index is None:
            return None
        data = program.arrays[index].data
        with np.errstate(all="ignore"):
            changed = compute(data).astype(data.dtype)
        return (
            None
            if np.array_equal(changed, data, equal_nan=data.dtype.kind == "f")
            else with_array(program, index, changed)
        )

    return mutated


def ties(program: Program, source: random.Random) -> Program | None:
    index = one(program, source, lambda array: array.data.size > 1)
    if index is None:
        return None
    data = program.arrays[index].data
    return with_array(program, index, np.full_like(data, data.reshape(-1)[0]))


def integers(choose: Callable[[np.ndarray[Any, Any]], tuple[int, ...]], *, most: int = 1) -> Mutation:
    """Return a mutation that sets `most` elements of an integer input to values that `choose` offers for it."""

    def mutated(program: Program, source: random.Random) -> Program | None:
        index = one(program, source, lambda array: array.data.dtype.kind in "iu" and array.data.size > 0)
        if index is None:
            return None
        data = np.array(program.arrays[index].data)
        limits = np.iinfo(data.dtype)
        offered = choose(data)
        count = min(most, data.size)
        for place, value in zip(source.sample(range(data.size), count), source.sample(offered, count), strict=True):
            data.reshape(-1)[place] = min(max(value, int(limits.min)), int(limits.max))
        return with_array(program, index, data)

    return mutated


def repeated(program: Program, source: random.Random) -> Program | None:
    """Set one element of an integer input, such as an index, to the value of another element."""
    index = one(program, source, lambda array: array.data.dtype.kind in "iu" and len(np.unique(array.data)) > 1)
    if index is None:
        return None
    data = np.array(program.arrays[index].data)
    flat = data.reshape(-1)
    place = source.randrange(data.size)
    others = np.flatnonzero(flat != flat[place])
    flat[source.choice(others.tolist())] = flat[place]
    return with_array(program, index, data)


def beyond_fractions(program: Program, source: random.Random) -> Program | None:
    """Make all integers so large that some of them become equal when converted to float64 or float32."""
    changed = program
    for index in inputs(program):
        array = program.arrays[index]
        if array.dtype in BEYOND and array.data.size:
            changed = with_array(changed, index, array.data + np.array(BEYOND[array.dtype], array.dtype))
    return None if changed is program else changed


def no_gradient(program: Program, source: random.Random) -> Program | None:
    """Let one of several inputs no longer require a gradient."""
    asking = _asking(program)
    return _not_asking(program, {source.choice(asking)}) if len(asking) > 1 else None


def no_gradients(program: Program, source: random.Random) -> Program | None:
    """Let no input require a gradient, so that code for inference runs."""
    asking = _asking(program)
    return _not_asking(program, asking) if asking else None


def _asking(program: Program) -> list[int]:
    return [call.slot for call in program.inputs() if call.kwargs["requires_grad"]]


def _not_asking(program: Program, slots: Collection[int]) -> Program:
    return dataclasses.replace(
        program,
        calls=tuple(
            call._replace(kwargs={**call.kwargs, "requires_grad": False}) if call.slot in slots else call
            for call in program.calls
        ),
    )
