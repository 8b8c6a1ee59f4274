"""Programs -> programs of one call more unusual: other shapes, layouts, dtypes, values and arguments.

The reference is asked first: its result or its refusal says what a mutation is worth.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from autotest.program import Array, Call, Program, Ref, leaves, map_operand
from autotest.program.rewriting import assembled

#: Elements of the greatest array that is changed: larger ones say no more and take longer.
_LARGEST: Final = 1 << 14

Mutation = Callable[[Program, random.Random], "Program | None"]


def mutations(program: Program, seed: int, count: int) -> Iterator[tuple[str, Program]]:
    """At most `count` mutations of `program`, each with its name; the same ones for the same `seed`."""
    source = random.Random(seed)
    names = list(MUTATIONS)
    source.shuffle(names)
    found = 0
    for name in names:
        mutated = MUTATIONS[name](program, source)
        if mutated is not None:
            yield name, mutated
            found += 1
            if found == count:
                return


def _with_array(program: Program, index: int, data: np.ndarray[Any, Any], dtype: str | None = None) -> Program:
    """`program` with another captured array `index`."""
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


def _inputs(program: Program) -> list[int]:
    """The captured arrays that tensors are made of, and that are small enough to be changed."""
    found = [call.args[0].index for call in program.calls if call.kind == "tensor"]
    return [index for index in found if program.arrays[index].data.size <= _LARGEST]


def _one(program: Program, source: random.Random, fits: Callable[[Array], bool]) -> int | None:
    fitting = [index for index in _inputs(program) if fits(program.arrays[index])]
    return source.choice(fitting) if fitting else None


# -- shapes -----------------------------------------------------------------------------------------------------


def _resized(program: Program, source: random.Random, size: int) -> Program | None:
    """One dimension, of every input that has one of that size, with another size."""
    shapes = [program.arrays[index].data.shape for index in _inputs(program)]
    sizes = sorted({length for shape in shapes for length in shape if length > 1})
    if not sizes:
        return None
    old = source.choice(sizes)
    for index in _inputs(program):
        data = program.arrays[index].data
        cut = tuple(slice(0, size) if length == old else slice(None) for length in data.shape)
        program = _with_array(program, index, data[cut])
    return program


def _empty(program: Program, source: random.Random) -> Program | None:
    return _resized(program, source, 0)


def _single(program: Program, source: random.Random) -> Program | None:
    return _resized(program, source, 1)


def _scalar(program: Program, source: random.Random) -> Program | None:
    index = _one(program, source, lambda array: array.data.ndim > 0 and array.data.size > 0)
    return None if index is None else _with_array(program, index, program.arrays[index].data.reshape(-1)[0].reshape(()))


def _more_dimensions(program: Program, source: random.Random) -> Program | None:
    index = _one(program, source, lambda array: True)
    return None if index is None else _with_array(program, index, program.arrays[index].data[None])


def _fewer_dimensions(program: Program, source: random.Random) -> Program | None:
    index = _one(program, source, lambda array: array.data.ndim > 1 and array.data.shape[0] > 0)
    return None if index is None else _with_array(program, index, program.arrays[index].data[0])


# -- layouts ----------------------------------------------------------------------------------------------------


def _viewed(
    program: Program, index: int, data: np.ndarray[Any, Any], method: tuple[str, str, tuple[Any, ...]]
) -> Program:
    """`program` with a view between the input of array `index`, which becomes `data`, and all that reads it."""
    program = _with_array(program, index, data)
    calls: list[Call] = []
    place: dict[int, int] = {}
    extra = len(program.calls)
    for call in program.calls:

        def leaf(item: Any) -> Any:
            return Ref(place[item.slot]) if type(item) is Ref and item.slot in place else item

        calls.append(call._replace(args=map_operand(call.args, leaf), kwargs=map_operand(call.kwargs, leaf)))
        if call.kind == "tensor" and call.args[0].index == index:
            kind, target, rest = method
            calls.append(Call(kind, target, (Ref(call.slot), *rest), {}, extra, "view"))  # type: ignore[arg-type]
            place[call.slot] = extra
            extra += 1
    return assembled(calls, program.arrays, program.undefined)[0]


def _permuted(program: Program, source: random.Random) -> Program | None:
    index = _one(program, source, lambda array: array.data.ndim > 1)
    if index is None:
        return None
    data = program.arrays[index].data
    order = list(range(data.ndim))[::-1]
    return _viewed(program, index, data.transpose(order), ("method", "permute", tuple(order)))


def _expanded(program: Program, source: random.Random) -> Program | None:
    index = _one(program, source, lambda array: array.data.ndim > 0 and array.data.shape[0] > 1)
    if index is None:
        return None
    data = program.arrays[index].data
    return _viewed(program, index, data[:1], ("method", "expand", (data.shape,)))


def _offset(program: Program, source: random.Random) -> Program | None:
    index = _one(program, source, lambda array: array.data.ndim > 0 and array.data.shape[0] > 0)
    if index is None:
        return None
    data = program.arrays[index].data
    return _viewed(program, index, np.concatenate([data[:1], data]), ("operator", "getitem", (slice(1, None),)))


# -- dtypes and values ------------------------------------------------------------------------------------------

_OTHER_DTYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "float32": ("float64", "float16", "int64", "bool"),
    "float64": ("float32", "int32"),
    "int64": ("int32", "float32", "uint8", "bool"),
    "int32": ("int64", "float32"),
    "bool": ("int64", "float32"),
}


def _cast(program: Program, index: int, dtype: str) -> Program:
    with np.errstate(all="ignore"):
        return _with_array(program, index, program.arrays[index].data.astype(dtype), dtype)


def _one_dtype(program: Program, source: random.Random) -> Program | None:
    index = _one(program, source, lambda array: array.dtype in _OTHER_DTYPES)
    if index is None:
        return None
    return _cast(program, index, source.choice(_OTHER_DTYPES[program.arrays[index].dtype]))


def _all_dtypes(program: Program, source: random.Random) -> Program | None:
    first = _one(program, source, lambda array: array.dtype in _OTHER_DTYPES)
    if first is None:
        return None
    old = program.arrays[first].dtype
    new = source.choice(_OTHER_DTYPES[old])
    for index in _inputs(program):
        if program.arrays[index].dtype == old:
            program = _cast(program, index, new)
    return program


def _special(values: tuple[float, ...]) -> Mutation:
    def mutated(program: Program, source: random.Random) -> Program | None:
        index = _one(program, source, lambda array: array.data.dtype.kind == "f" and array.data.size > 0)
        if index is None:
            return None
        data = np.array(program.arrays[index].data)
        data.reshape(-1)[source.randrange(data.size)] = source.choice(values)
        return _with_array(program, index, data)

    return mutated


def _ties(program: Program, source: random.Random) -> Program | None:
    index = _one(program, source, lambda array: array.data.size > 1)
    if index is None:
        return None
    data = program.arrays[index].data
    return _with_array(program, index, np.full_like(data, data.reshape(-1)[0]))


def _extreme_integers(program: Program, source: random.Random) -> Program | None:
    index = _one(program, source, lambda array: array.data.dtype.kind in "iu" and array.data.size > 0)
    if index is None:
        return None
    data = np.array(program.arrays[index].data)
    limits = np.iinfo(data.dtype)
    data.reshape(-1)[source.randrange(data.size)] = source.choice((limits.min, limits.max))
    return _with_array(program, index, data)


# -- arguments --------------------------------------------------------------------------------------------------


def _whole_numbers(program: Program) -> int:
    return sum(type(item) is int for item in leaves((program.calls[-1].args, program.calls[-1].kwargs)))


def _other_number(program: Program, source: random.Random) -> Program | None:
    """One whole number among the arguments of the last call, such as a dim, negative, one off, or out of range."""
    count = _whole_numbers(program)
    if not count:
        return None
    chosen, change = source.randrange(count), source.choice((-1, 0, 1, 7, -7))
    seen = -1

    def leaf(item: Any) -> Any:
        nonlocal seen
        if type(item) is not int:
            return item
        seen += 1
        return change if seen == chosen else item

    last = program.calls[-1]
    last = last._replace(args=map_operand(last.args, leaf), kwargs=map_operand(last.kwargs, leaf))
    return dataclasses.replace(program, calls=(*program.calls[:-1], last))


def _dropped(program: Program, source: random.Random) -> Program | None:
    """An optional argument of the last call left out."""
    last = program.calls[-1]
    if not last.kwargs:
        return None
    gone = source.choice(sorted(last.kwargs))
    kept = {name: value for name, value in last.kwargs.items() if name != gone}
    return dataclasses.replace(program, calls=(*program.calls[:-1], last._replace(kwargs=kept)))


def _twice(program: Program, source: random.Random) -> Program | None:
    """The same tensor in place of two."""
    last = program.calls[-1]
    tensors = [item for item in last.args if type(item) is Ref]
    if len(tensors) < 2:
        return None
    args = tuple(tensors[0] if item == tensors[1] else item for item in last.args)
    return dataclasses.replace(program, calls=(*program.calls[:-1], last._replace(args=args)))


MUTATIONS: Final[Mapping[str, Mutation]] = {
    "zero-size": _empty,
    "size 1": _single,
    "0-dim": _scalar,
    "one dimension more": _more_dimensions,
    "one dimension less": _fewer_dimensions,
    "permuted": _permuted,
    "expanded": _expanded,
    "offset view": _offset,
    "another dtype": _one_dtype,
    "another dtype everywhere": _all_dtypes,
    "NaN": _special((float("nan"),)),
    "infinity": _special((float("inf"), float("-inf"))),
    "negative zero and subnormals": _special((-0.0, 1e-40, 3.4e38)),
    "ties": _ties,
    "extremes of integers": _extreme_integers,
    "another number": _other_number,
    "an argument left out": _dropped,
    "the same tensor twice": _twice,
}
