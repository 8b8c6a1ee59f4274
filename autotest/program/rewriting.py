"""Rewrites programs: drops or replaces calls, changes arrays, converts to double precision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from autotest.program import (
    Array,
    Call,
    Captured,
    Operand,
    Program,
    Ref,
    Root,
    leaves,
    map_call,
    reading,
    refs,
    with_leaves,
)
from autotest.program.numpy_scalars import is_fraction
from autotest.program.semantics import (
    PRECISION_METHODS,
    is_holder,
    is_setting,
    makes_input,
    makes_module,
    overwritten_operand,
    reparametrizes,
    written,
)

#: dtype -> the double-precision dtype that `widened` uses instead.
WIDER: Mapping[str, str] = {
    "float16": "float64",
    "bfloat16": "float64",
    "float32": "float64",
    "half": "float64",
    "float": "float64",
    "complex64": "complex128",
}
#: The keyword arguments of ``torch.tensor`` with which its numbers become a captured array in double precision.
_OF_LITERALS = frozenset(("dtype", "requires_grad"))
_WIDER_METHODS: Mapping[str, str] = dict.fromkeys(PRECISION_METHODS, "double")
#: Functions that make tensors of the default dtype for any arguments, and those that do so only for float arguments.
_OF_DEFAULT_DTYPE = frozenset("empty eye linspace logspace ones rand randn zeros".split())
_OF_FRACTIONS = frozenset(("arange", "full", "scalar_tensor"))


def filled(
    calls: Sequence[Call], arrays: tuple[Array, ...], contents: Mapping[int, Array]
) -> tuple[list[Call], tuple[Array, ...]]:
    """Insert calls that overwrite the results in the slots of `contents`; return calls and arrays for `assembled`.

    This gives a leaf that is a view contents of its own, so that it can be varied.
    """
    made: list[Call] = []
    free = 1 + max((call.slot for call in calls), default=0)
    for call in calls:
        made.append(call)
        if call.slot in contents:
            made.append(Call("overwrite", "", (Ref(call.slot), Captured(len(arrays))), {}, free + call.slot))
            arrays = (*arrays, contents[call.slot])
    return made, arrays


def assembled(
    calls: Iterable[Call], arrays: tuple[Array, ...], undefined: Iterable[int] = ()
) -> tuple[Program, dict[int, int]]:
    """Return a program of `calls` with consecutive slots, and the new slot of each old one.

    Args:
        calls: the calls in order; their slots may be any distinct numbers.
        arrays: the arrays that the calls read; those that none reads are dropped.
        undefined: old slots with undefined contents; slots that do not exist are ignored.
    """
    places: dict[int, int] = {}
    kept: dict[int, int] = {}
    made: list[Call] = []

    def moved(leaf: Operand) -> Operand:
        if type(leaf) is Ref:
            return Ref(places[leaf.slot])
        if type(leaf) is Captured:
            return Captured(kept.setdefault(leaf.index, len(kept)))
        return leaf

    for call in calls:
        changed = map_call(call, moved)._replace(slot=len(made))
        places[call.slot] = len(made)
        made.append(changed)
    still = frozenset(places[slot] for slot in undefined if slot in places)
    return Program(tuple(made), tuple(arrays[index] for index in kept), still), places


def chained(programs: Iterable[Program]) -> Program:
    """Return one program that performs `programs` one after the other."""
    calls: list[Call] = []
    arrays: list[Array] = []
    undefined: set[int] = set()
    for program in programs:
        first, held = len(calls), len(arrays)

        def moved(leaf: Operand, first: int = first, held: int = held) -> Operand:
            if type(leaf) is Ref:
                return Ref(first + leaf.slot)
            return Captured(held + leaf.index) if type(leaf) is Captured else leaf

        calls += [map_call(call, moved)._replace(slot=first + call.slot) for call in program.calls]
        arrays += program.arrays
        undefined |= {first + slot for slot in program.undefined}
    return Program(tuple(calls), tuple(arrays), frozenset(undefined))


def replaced(program: Program, change: Callable[[Call], Call | None]) -> Program:
    """Return `program` with each call replaced by `change(call)`.

    If `change` returns None, the call is dropped with all calls that depend on its result.
    """
    gone: set[int] = set()
    calls: list[Call] = []
    for call in program.calls:
        new = None if any(ref.slot in gone for ref in refs(call)) else change(call)
        if new is None:
            gone.add(call.slot)
        else:
            calls.append(new)
    return assembled(calls, program.arrays, program.undefined)[0]


def without(program: Program, slots: Iterable[int]) -> Program:
    """Return `program` without the calls in `slots` and all calls that depend on their results."""
    dropped = frozenset(slots)
    return replaced(program, lambda call: None if call.slot in dropped else call)


def bypassed(program: Program, slot: int, instead: Operand) -> Program:
    """Return `program` without call `slot`; calls that read its result read `instead`."""
    calls = [reading(call, {slot: instead}) for call in program.calls if call.slot != slot]
    return assembled(calls, program.arrays, program.undefined)[0]


def upto(program: Program, end: int) -> Program:
    """Return the program of the calls of `program` before slot `end`."""
    return Program(program.calls[:end], program.arrays, frozenset(slot for slot in program.undefined if slot < end))


def with_call(program: Program, call: Call) -> Program:
    """Return `program` with `call` instead of the call in the same slot."""
    return Program(
        (*program.calls[: call.slot], call, *program.calls[call.slot + 1 :]), program.arrays, program.undefined
    )


def places_of_number(program: Program, number: int) -> list[tuple[Call, list[int]]]:
    """Return the calls of `program` that are given the whole number `number`, with its places among their leaves.

    Calls that make inputs are left out.
    """
    found = []
    for call in program.calls:
        given = leaves((call.args, call.kwargs))
        places = [place for place, item in enumerate(given) if type(item) is int and item == number]
        if places and not makes_input(call):
            found.append((call, places))
    return found


def with_number(program: Program, number: int, other: int) -> Program:
    """Return `program` with `other` in all places that `places_of_number` returns."""
    for call, places in places_of_number(program, number):
        program = with_call(program, with_leaves(call, dict.fromkeys(places, other)))
    return program


def with_arrays(program: Program, arrays: Iterable[Array]) -> Program:
    """Return `program` with other arrays; calls that make tensors of them get the dtypes of these."""
    new = tuple(arrays)
    calls = tuple(
        call._replace(target=new[call.args[0].index].dtype) if call.kind == "tensor" else call for call in program.calls
    )
    return Program(calls, new, program.undefined)


def with_contents(program: Program, index: int, data: np.ndarray[Any, Any]) -> Program:
    """Return `program` with `data`, converted to the dtype of the captured array `index`, as the contents of that."""
    old = program.arrays[index]
    new = Array(np.asarray(data, old.data.dtype), old.dtype)
    return with_arrays(program, (*program.arrays[:index], new, *program.arrays[index + 1 :]))


def without_gradients(program: Program) -> Program:
    """Return `program` with inputs that require no gradient."""
    calls = tuple(
        call._replace(kwargs={**call.kwargs, "requires_grad": False}) if call.kind == "tensor" else call
        for call in program.calls
    )
    return Program(calls, program.arrays, program.undefined)


def with_scaled_operands(program: Program, slot: int, factors: Mapping[int, Array]) -> tuple[Program, dict[int, int]]:
    """Multiply operands of call `slot` by `factors`; return the new program and the new slot of each old one.

    Args:
        program: the program.
        slot: the slot of the call whose operands are scaled; other readers get the unscaled tensors.
        factors: the factor by the slot of the operand. The first operand of an in-place call is not scaled.
    """
    call, arrays = program.calls[slot], list(program.arrays)
    kept = overwritten_operand(call)
    extra, before, instead = len(program.calls), [], {}
    for operand, factor in factors.items():
        if kept == Ref(operand):
            continue
        arrays.append(factor)
        before.append(tensor_call(extra, len(arrays) - 1, factor, requires_grad=False))
        before.append(Call("operator", "mul", (Ref(operand), Ref(extra)), {}, extra + 1))
        instead[operand] = Ref(extra + 1)
        extra += 2
    calls = [*program.calls[:slot], *before, reading(call, instead), *program.calls[slot + 1 :]]
    return assembled(calls, tuple(arrays), program.undefined)


def tensor_call(
    slot: int, index: int, array: Array, *, requires_grad: bool, device: str = "cpu", note: str = ""
) -> Call:
    """Return the call that makes a leaf tensor from captured array `index`."""
    kwargs = {"requires_grad": requires_grad, "device": device}
    return Call("tensor", array.dtype, (Captured(index),), kwargs, slot, note)


def needed(program: Program, slots: Iterable[int]) -> set[int]:
    """Return `slots` and the slots of all calls that their results depend on.

    These are the operands, and the calls that write into a needed value or change its state.
    """
    found = set(slots)
    changes = [(call.slot, changed) for call in program.calls if (changed := _changed(call))]
    grown = True
    while grown:
        before = len(found)
        for call in reversed(program.calls):
            if call.slot in found:
                found.update(ref.slot for ref in refs(call))
        for slot, changed in changes:
            if not changed.isdisjoint(found):
                found.add(slot)
        grown = len(found) > before
    return found


def _changed(call: Call) -> set[int]:
    """Return the slots of the earlier values that `call` writes into or whose state it changes."""
    changed = {ref.slot for ref in written(call)}
    if is_setting(call) or reparametrizes(call) or call.kind in ("enter", "exit"):
        changed.update(item.slot for item in call.args[:1] if type(item) is Ref)
    return changed


def widened(program: Program) -> tuple[Program, dict[int, int]]:
    """Return `program` in double precision, and the new slot of each old one.

    Modules are converted by a call of `double` right after they are built. Numbers that the program itself gives, as in
    ``torch.tensor([0.1, 0.2])``, become captured arrays like all others.
    """

    def leaf(item: Operand) -> Operand:
        return Root(WIDER[item.path]) if type(item) is Root and item.path in WIDER else item

    calls: list[Call] = []
    given = [_wide(array) for array in program.arrays]
    extra = len(program.calls)
    for call in program.calls:
        target = call.target
        literal = _literal(call)
        if literal is not None:
            needs_gradient = call.kwargs.get("requires_grad", False)
            calls.append(tensor_call(call.slot, len(given), literal, requires_grad=needs_gradient, note=call.note))
            given.append(literal)
            continue
        if call.kind == "tensor":
            target = WIDER.get(target, target)
        elif call.kind == "method":
            target = _WIDER_METHODS.get(target, target)
        wide = map_call(call, leaf)._replace(target=target)
        if _has_default_dtype(call):
            wide = wide._replace(kwargs={**wide.kwargs, "dtype": Root("float64")})
        calls.append(wide)
        # A parameter already has the dtype of the tensor it is made from, and its `double` would be another tensor.
        if makes_module(call) and not is_holder(call) and call.target != "nn.Parameter":
            calls.append(Call("method", "double", (Ref(call.slot),), {}, extra))
            extra += 1
    arrays = tuple(given)
    if len(calls) == len(program.calls):  # without modules, every call stays where it is
        return Program(tuple(calls), arrays, program.undefined), {call.slot: call.slot for call in calls}
    return assembled(calls, arrays, program.undefined)


def _has_default_dtype(call: Call) -> bool:
    """Whether `call` is a factory function that uses the default dtype, as ``torch.zeros(3)`` does."""
    if call.kind != "function" or call.kwargs.get("dtype") is not None:
        return False
    if call.target in _OF_FRACTIONS:
        return any(map(is_fraction, leaves((call.args, call.kwargs))))
    return call.target in _OF_DEFAULT_DTYPE


def _wide(array: Array) -> Array:
    dtype = WIDER.get(array.dtype)
    return array if dtype is None else Array(array.data.astype(dtype), dtype)


def _literal(call: Call) -> Array | None:
    """Return the numbers that ``torch.tensor`` is given as they are, in double precision; None for any other call."""
    if call.kind != "function" or call.target != "tensor" or len(call.args) != 1 or call.kwargs.keys() - _OF_LITERALS:
        return None
    dtype, numbers = call.kwargs.get("dtype", Root("float32")), tuple(leaves(call.args[0]))
    if type(dtype) is not Root or dtype.path not in ("float32", "float64"):
        return None
    if not all(type(one) in (int, float) for one in numbers) or not any(type(one) is float for one in numbers):
        return None
    try:
        made = np.array(call.args[0], dtype.path)
    except ValueError:  # rows of different lengths
        return None
    return Array(made.astype(np.float64), "float64")
