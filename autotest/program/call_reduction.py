"""Shrinks the calls of a failing program: drops them, bypasses them, or replaces them by their recorded results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from autotest.program import Call, Operand, Program, reading, refs
from autotest.program.dtypes import is_differentiable
from autotest.program.isolation import onwards
from autotest.program.rewriting import assembled, bypassed, needed, tensor_call, without
from autotest.program.semantics import fills, is_backward, is_class
from autotest.program.values import TensorValue

SlotValues = Mapping[int, TensorValue]


def essential(call: Call) -> bool:
    """Whether dropping `call` would leave contents that differ between the two sides."""
    return call.kind in ("load_state", "overwrite") or fills(call)


def calls(program: Program, values: Mapping[int, TensorValue]) -> Iterator[Program]:
    """Yield programs with fewer calls.

    Args:
        program: the program to shrink.
        values: the results of the reference's calls by slot, which replace the calls as inputs.
    """
    whole = program.calls
    for call in whole:
        if is_backward(call):
            yield without(program, [call.slot])
    # In a long program try only some of the ends, since each `needed` takes time proportional to the program's length.
    for last in range(len(whole) - 1, -1, -max(1, len(whole) // _ENDS)):
        kept = needed(program, [last])
        if len(kept) < len(whole):
            yield without(program, [call.slot for call in whole if call.slot not in kept])
    for call in reversed(whole):
        if not essential(call):
            yield without(program, [call.slot])
    for call in reversed(whole):
        if call.kind == "tensor" or is_backward(call) or is_class(call) or essential(call):
            continue
        for ref in dict.fromkeys(refs(call)):
            if not is_class(whole[ref.slot]):
                yield bypassed(program, call.slot, ref)
        value = values.get(call.slot)
        if value is not None:
            yield unread(frozen(program, call.slot, value))


def frozen(program: Program, slot: int, value: TensorValue) -> Program:
    """Return `program` with the call in `slot` replaced by an input tensor with its result `value`."""
    array = value.as_array()
    grad = value.requires_grad and is_differentiable(array.dtype)
    instead = tensor_call(slot, len(program.arrays), array, requires_grad=grad, device=value.device)
    replaced = [instead if call.slot == slot else call for call in program.calls]
    return assembled(replaced, (*program.arrays, array), program.undefined - {slot})[0]


def unread(program: Program) -> Program:
    """Return `program` without inputs that no call reads."""
    read = {ref.slot for call in program.calls for ref in refs(call)}
    return without(program, [call.slot for call in program.inputs() if call.slot not in read])


#: Approximate maximum of the number of ends of a program that `calls` tries.
_ENDS = 64


def only(program: Program, slots: Iterable[int]) -> Program:
    """Return `program` with only the calls that the results in `slots` depend on."""
    kept = needed(program, slots)
    return without(program, [call.slot for call in program.calls if call.slot not in kept])


def spans(
    program: Program,
    start: int,
    end: int,
    values: Callable[[], SlotValues],
    held: Callable[[int, list[int]], Mapping[int, Any]],
) -> Iterator[Program]:
    """Yield programs without the calls from `start` to `end`, those with the fewest calls first.

    Args:
        program: the program to shrink.
        start, end: the range of slots to remove; `end` is excluded.
        values: returns the results of the reference's calls by slot.
        held: called with an end and a list of slots; returns the values of these slots after the calls before the end.
    """
    span = [call for call in program.calls[start:end] if not essential(call)]
    yield without(program, [call.slot for call in span])
    if start == 0 and end < len(program.calls):
        yield unread(onwards(program, end, held(end, frontier(program, end))))
    known = values()
    yield unread(_bypassed(program, span, known))
    yield unread(_frozen(program, span, known))


def frontier(program: Program, end: int) -> list[int]:
    """Return the sorted slots before `end` that calls from `end` on read."""
    return sorted({ref.slot for call in program.calls[end:] for ref in refs(call) if ref.slot < end})


def _bypassed(program: Program, span: list[Call], values: SlotValues) -> Program:
    """Return `program` with each call of `span` bypassed by an operand of the same shape and dtype, if it has one."""
    instead: dict[int, Operand] = {}
    for call in span:
        given = values.get(call.slot)
        if given is None or call.kind == "tensor" or is_backward(call) or is_class(call):
            continue
        for ref in refs(call):
            operand = instead.get(ref.slot, ref)
            taken = values.get(operand.slot)
            if taken is not None and taken.data.shape == given.data.shape and taken.dtype == given.dtype:
                instead[call.slot] = operand
                break
    kept = [reading(call, instead) for call in program.calls if call.slot not in instead]
    return assembled(kept, program.arrays, program.undefined)[0]


def _frozen(program: Program, span: list[Call], values: SlotValues) -> Program:
    """Return `program` with the results of `span` that later calls read turned into inputs, and its rest dropped."""
    last = span[-1].slot if span else 0
    read = {ref.slot for call in program.calls[last + 1 :] for ref in refs(call)}
    arrays = list(program.arrays)
    calls: list[Call] = []
    gone: set[int] = set()
    within = {call.slot for call in span}
    for call in program.calls:
        value = values.get(call.slot)
        if call.slot not in within or call.kind == "tensor" or is_class(call):
            calls.append(call)
        elif call.slot in read and value is not None:
            arrays.append(value.as_array())
            grad = value.requires_grad and is_differentiable(value.dtype)
            new = tensor_call(call.slot, len(arrays) - 1, arrays[-1], requires_grad=grad, device=value.device)
            calls.append(new)
        else:
            gone.add(call.slot)
    kept = []
    for call in calls:
        if any(ref.slot in gone for ref in refs(call)):
            gone.add(call.slot)
        else:
            kept.append(call)
    still = program.undefined - within
    return assembled(kept, tuple(arrays), still)[0]
