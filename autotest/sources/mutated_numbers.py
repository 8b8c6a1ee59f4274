"""Changes the dtypes and the numbers of a program's tensors."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from autotest.comparison.elementwise import Values
from autotest.program import Array, Program, Ref
from autotest.program.semantics import in_place, out_operands
from autotest.sources.mutated_inputs import Mutation, inputs, on_one, one, with_array

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
        written = {item.slot for item in out_operands(last)}
        if not written and in_place(last) and last.args and type(last.args[0]) is Ref:
            copied = program.calls[last.args[0].slot]
            written = {copied.args[0].slot if copied.target == "clone" else copied.slot}
        places = [call.args[0].index for call in program.inputs() if call.slot in written and call.target != dtype]
        return _cast(program, source.choice(places), dtype) if places else None

    return mutated


#: dtype -> magnitude above which floats do not represent all its integers: float64 for int64, float32 for int32.
BEYOND: Final[Mapping[str, int]] = {"int64": 1 << 53, "int32": 1 << 24}


def _is_floating(array: Array) -> bool:
    return array.data.dtype.kind == "f" and array.data.size > 0


def special(values: tuple[float, ...], *, everywhere: bool = False) -> Mutation:
    """Return a mutation that sets one element of an input, or all elements, to one of `values`."""

    def changed(old: Values, source: random.Random) -> Values:
        data = np.array(old)
        with np.errstate(all="ignore"):
            data.reshape(-1)[slice(None) if everywhere else source.randrange(data.size)] = source.choice(values)
        return data

    return on_one(_is_floating, changed)


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


def computed(compute: Callable[[Values], Values], kinds: str = "f") -> Mutation:
    """Return a mutation that computes all values of an input from the old ones."""

    def changed(old: Values, _: random.Random) -> Values | None:
        with np.errstate(all="ignore"):
            new = compute(old).astype(old.dtype)
        return None if np.array_equal(new, old, equal_nan=old.dtype.kind == "f") else new

    return on_one(lambda array: array.data.dtype.kind in kinds and array.data.size > 0, changed)


ties: Final = on_one(lambda array: array.data.size > 1, lambda data, _: np.full_like(data, data.reshape(-1)[0]))


def integers(choose: Callable[[Values], tuple[int, ...]], *, most: int = 1) -> Mutation:
    """Return a mutation that sets `most` elements of an integer input to values that `choose` offers for it."""

    def changed(old: Values, source: random.Random) -> Values:
        data = np.array(old)
        limits = np.iinfo(data.dtype)
        offered = choose(data)
        count = min(most, data.size)
        for place, value in zip(source.sample(range(data.size), count), source.sample(offered, count), strict=True):
            data.reshape(-1)[place] = min(max(value, int(limits.min)), int(limits.max))
        return data

    return on_one(lambda array: array.data.dtype.kind in "iu" and array.data.size > 0, changed)


def _with_element_repeated(old: Values, source: random.Random) -> Values:
    data = np.array(old)
    flat = data.reshape(-1)
    place = source.randrange(data.size)
    others = np.flatnonzero(flat != flat[place])
    flat[source.choice(others.tolist())] = flat[place]
    return data


#: Sets one element of an integer input, such as an index, to the value of another element.
repeated: Final = on_one(
    lambda array: array.data.dtype.kind in "iu" and len(np.unique(array.data)) > 1, _with_element_repeated
)


def beyond_fractions(program: Program, source: random.Random) -> Program | None:
    """Make all integers so large that some of them become equal when converted to float64 or float32."""
    changed = program
    for index in inputs(program):
        array = program.arrays[index]
        if array.dtype in BEYOND and array.data.size:
            changed = with_array(changed, index, array.data + np.array(BEYOND[array.dtype], array.dtype))
    return None if changed is program else changed
